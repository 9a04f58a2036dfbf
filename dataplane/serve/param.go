package serve

import (
	"math"
	"net/http"
	"strconv"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// unsaid returns the header of a request in which a client, of a revision that has
// such headers, does not say what an argument of tool says; "" when there is none.
func unsaid(h http.Header, tool *table.Tool, arguments rawjson.Value) string {
	for _, a := range tool.Said {
		if !saysValue(h, a.GetClientHeader(), arguments.Member(a.GetName())) {
			return a.GetClientHeader()
		}
	}
	return ""
}

// checkSaid refuses a call that came with the header h, in which a client does not say
// what the arguments say. It is before the call: that may be of a later table.
func (e *endpoint) checkSaid(h http.Header, m message.Message) *message.Refusal {
	if m.Method != message.MethodCall || h.Get("Mcp-Protocol-Version") < message.Modern {
		return nil
	}
	name, _ := m.Text("name")
	tool := e.tool(e.current(), name)
	if tool == nil {
		return nil // the call is refused for that
	}
	var arguments rawjson.Value
	if sent := m.Param["arguments"]; sent != nil && len(tool.Said) > 0 {
		var err error
		if arguments, err = rawjson.Parse(sent, call.MaxDepth); err != nil {
			return nil // as above
		}
	}
	if header := unsaid(h, tool, arguments); header != "" {
		return message.Mismatch(header)
	}
	return nil
}

// saysValue reports whether h has the header name once, with v, where v is a string,
// an integer or a boolean; and not at all where v is absent or null.
func saysValue(h http.Header, name string, v rawjson.Value) bool {
	if v == nil || v.Kind() == rawjson.Null {
		return len(h[name]) == 0
	}
	value, ok := message.Said(h, name)
	if !ok {
		return false
	}
	switch v.Kind() {
	case rawjson.String:
		text, ok := v.Text()
		return ok && value == text
	case rawjson.Bool:
		return value == string(v)
	case rawjson.Number:
		a, ok := integer(value)
		b, whole := integer(string(v))
		return ok && whole && a == b
	}
	return false
}

// maxInteger is the largest integer that every JSON library reads exactly.
const maxInteger = 1<<53 - 1

// integer returns the integer that text is, however that is written.
func integer(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && f == math.Trunc(f) && math.Abs(f) <= maxInteger
}
