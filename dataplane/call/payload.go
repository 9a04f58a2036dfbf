package call

import (
	"errors"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/schema"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// payload returns the body to send: the bytes of v; nil for none. Null stands for
// no payload where that is optional. A tool without a payload refuses one rather
// than drop it. A payload that breaks its schema is noted where it is sent all the
// same.
func payload(t *table.Tool, v rawjson.Value) (body []byte, noted []Breach, err error) {
	optional := !t.Payload.GetRequired()
	switch {
	case optional && (v == nil || v.Kind() == rawjson.Null):
		return nil, nil, nil
	case t.Payload == nil:
		return nil, nil, invalidf("argument %q is not one of this tool", "payload")
	case v == nil:
		return nil, nil, invalidf("argument %q is missing", "payload")
	case int64(len(v)) > t.Service.MaxRequest:
		return nil, nil, invalidf("argument %q is longer than %d bytes", "payload", t.Service.MaxRequest)
	case t.Schema == nil:
		return v, nil, nil
	case t.Payload.GetCheck() == irv1.Check_CHECK_ENFORCE:
		return v, nil, checkPayload(t.Schema, v)
	}
	if err := t.Schema.Check(v); err != nil {
		noted = []Breach{breach(Payload, err)}
	}
	return v, noted, nil
}

// checkPayload holds v to s. A payload that is of another type altogether is an
// argument that cannot be sent; anything else is a [*schema.Violation].
func checkPayload(s *schema.Schema, v rawjson.Value) error {
	err := s.Check(v)
	var violation *schema.Violation
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &violation):
		return invalidf("argument %q: %v", "payload", err)
	case violation.Root:
		return invalidf("argument %q has the wrong type: %s", "payload", violation.Message)
	}
	return violation
}

// violated is the outcome of a payload that breaks its schema.
func violated(t *table.Tool, v *schema.Violation) Outcome {
	v = discreet(t, "payload", v)
	return badPayload(t.Errors, v.Message, "$.payload"+strings.TrimPrefix(v.Path, "$"), v.Keyword)
}

// badPayload is the outcome of arguments that are refused for what message says of
// the place at path, a JSONPath; keyword is that of JSON Schema, "" for none.
func badPayload(e *table.Errors, message, path, keyword string) Outcome {
	p := &e.Payload
	data := slices.Clone(p.Data)
	data = put(data, p.Message, message)
	data = put(data, p.Path, path)
	if word, ok := p.Keywords[keyword]; ok {
		data = put(data, p.Keyword, word)
	}
	refusal := &Error{Code: p.Code, Message: message, Style: e.Style}
	if len(data) > 0 { // else the message is all there is to say
		slices.SortFunc(data, func(a, b table.Member) int { return strings.Compare(a.Name, b.Name) })
		refusal.Data, refusal.Own = table.Object(data), p.Message == ""
	}
	return Outcome{Class: InvalidPayload, Error: refusal}
}

// put sets the member called name of members to text; "" names none.
func put(members []table.Member, name, text string) []table.Member {
	if name == "" {
		return members
	}
	return set(members, table.Member{Name: name, Value: rawjson.Quote(text)})
}

// set replaces the member of m's name, or appends m.
func set(members []table.Member, m table.Member) []table.Member {
	i := slices.IndexFunc(members, func(old table.Member) bool { return old.Name == m.Name })
	if i < 0 {
		return append(members, m)
	}
	members[i] = m
	return members
}
