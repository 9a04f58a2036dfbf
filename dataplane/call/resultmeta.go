package call

import (
	"strings"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxResultMeta is the length, in bytes, to which a header is cut that goes into the
// "_meta" of a result.
const maxResultMeta = 1024

// resultMeta returns what resp, nil for none, adds to the "_meta" of the result, by key;
// nil for nothing. body is that of the result, nil for none.
func resultMeta(t *table.Tool, resp *response, body rawjson.Value) map[string]rawjson.Value {
	if resp == nil {
		return nil
	}
	var meta map[string]rawjson.Value
	for _, m := range t.ResultMeta {
		var v rawjson.Value
		if at, ok := m.GetSource().(*irv1.ResultMeta_Body); ok {
			v = body.Lookup(at.Body.GetTokens())
		} else if values := resp.Header[m.GetHeader()]; len(values) > 0 {
			v = rawjson.Quote(cut(strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")))
		}
		if v == nil {
			continue
		}
		if meta == nil {
			meta = make(map[string]rawjson.Value, len(t.ResultMeta))
		}
		meta[m.GetKey()] = v
	}
	return meta
}

// tell adds a text to "_meta" of the result, unless it is "" or the tool has another.
func (o *Outcome) tell(key, text string) {
	if text == "" || o.Meta[key] != nil {
		return
	}
	if o.Meta == nil {
		o.Meta = map[string]rawjson.Value{}
	}
	o.Meta[key] = rawjson.Quote(text)
}

// cut returns as much of a valid text as may go out, in whole characters.
func cut(s string) string {
	if len(s) <= maxResultMeta {
		return s
	}
	n := maxResultMeta
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
