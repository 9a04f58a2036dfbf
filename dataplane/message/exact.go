package message

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// keyExact is the member of "_meta" by which a message brings, as a text, what the SDK
// would read otherwise than it was written: numbers become doubles there, so that
// 9007199254740993 is ...992. It is put in here and leaves the node nowhere.
const keyExact = "bindery.dev/exact"

// maxAnswerDepth is how deep an answer of a client may be nested.
const maxAnswerDepth = 64

// anyResult is what the SDK gets in the place of every result of a client. It decodes as
// that of any request that a server makes, and nothing of it is held to the request: an
// answer to a service's own question is for the service, whatever it says.
const anyResult = `{"action":"","content":{"type":"text","text":""},"roots":[]}`

// Exact returns what a message that [Message.Request] or [Answer] returned brings beside
// what the SDK made of it, whose "_meta" is meta: of an answer the result as it was
// written, of a request an object with those of "_meta" and "inputResponses" that it had.
// It is nil where there is nothing.
func Exact(meta map[string]any) rawjson.Value {
	text, _ := meta[keyExact].(string)
	if text == "" {
		return nil
	}
	return rawjson.Value(text)
}

// Answer returns data, a valid message that answers a request of the server's, as it goes
// to the SDK: with a result that only brings what [Exact] finds again. One that is no
// object, or not the same to everybody (see [rawjson.Parse]), becomes an error.
func Answer(data []byte) []byte {
	envelope, _ := members(data)
	if envelope["result"] == nil {
		return data
	}
	result, err := rawjson.Parse(envelope["result"], maxAnswerDepth)
	if err != nil || result.Kind() != rawjson.Object {
		delete(envelope, "result")
		envelope["error"] = json.RawMessage(`{"code":-32602,"message":"the result is of no use"}`)
		return objectOf(envelope)
	}
	meta, _ := bringing(nil, result)
	envelope["result"] = json.RawMessage(rawjson.Value(anyResult).With("_meta", meta))
	return objectOf(envelope)
}

// exactParams returns the parameters as they go to the SDK.
func (m *Message) exactParams() []byte {
	exact := map[string]json.RawMessage{}
	for _, name := range []string{"_meta", "inputResponses"} {
		if value := m.Param[name]; value != nil && string(value) != "null" { // null is none
			exact[name] = value
		}
	}
	if len(exact) == 0 {
		return m.Params
	}
	meta, ok := bringing(rawjson.Value(m.Param["_meta"]), objectOf(exact))
	if !ok {
		return m.Params
	}
	all := maps.Clone(m.Param)
	all["_meta"] = json.RawMessage(meta)
	return objectOf(all)
}

// bringing returns the "_meta" of a message, nil or null for none, with what it brings. It
// reports false for what is no object: that is for the SDK to refuse.
func bringing(meta rawjson.Value, exact []byte) (rawjson.Value, bool) {
	switch meta.Kind() {
	case rawjson.Object:
	case rawjson.Null, rawjson.None:
		meta = rawjson.Value("{}")
	default:
		return nil, false
	}
	return meta.With(keyExact, rawjson.AppendQuote(nil, exact)), true
}

// objectOf returns the object with members, by name.
func objectOf(members map[string]json.RawMessage) []byte {
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendQuote(b, name), ':')
		b = append(b, members[name]...)
	}
	return append(b, '}')
}
