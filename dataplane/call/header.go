package call

import (
	"maps"
	"net/http"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxHeader is the length, in bytes, of a header that an argument can make.
const maxHeader = 8 << 10

// A head is the header of a request in the making. Names are in canonical form, and
// most values are in one piece of memory.
type head struct {
	http.Header
	values []string
}

// newHead returns the header that every request of t has.
func newHead(t *table.Tool) *head {
	more := len(t.Meta) + len(t.Args) + 3 // credential, trace, type
	h := &head{make(http.Header, len(t.Service.Header)+more), make([]string, 0, more)}
	maps.Copy(h.Header, t.Service.Header) // nobody changes a value in place
	return h
}

// set sets the only value of name.
func (h *head) set(name, value string) {
	n := len(h.values)
	h.values = append(h.values, value)
	h.Header[name] = h.values[n : n+1 : n+1]
}

// setHeaders sets the headers that the arguments given stand for: an array as its
// elements with commas between them, an empty one not at all.
func setHeaders(header *head, t *table.Tool, given values) error {
	for _, a := range t.Args {
		v := given[a.GetName()]
		if v == nil || a.GetIn() != irv1.ArgumentIn_ARGUMENT_IN_HEADER {
			continue
		}
		all := texts(v)
		for _, s := range all {
			if problem := checkHeader(s, v.Kind() == rawjson.Array); problem != "" {
				return invalidf("argument %q %s", a.GetName(), problem)
			}
		}
		value := strings.Join(all, ",")
		if len(value) > maxHeader {
			return invalidf("argument %q is longer than %d bytes", a.GetName(), maxHeader)
		}
		if value != "" {
			header.set(a.GetWireName(), value)
		}
	}
	return nil
}

// checkHeader returns what keeps s from being the value of a header or an element
// of one; "" if nothing does.
func checkHeader(s string, element bool) string {
	switch {
	case s == "":
		return "must not be empty"
	case !irv1.ValidHeaderValue(s):
		return "must be printable ASCII without spaces at its ends"
	case element && strings.Contains(s, ","):
		return "has an element with a comma"
	}
	return ""
}
