package call

import (
	"strings"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
)

// maxResultMeta is the length, in bytes, to which a header is cut that goes into the
// "_meta" of a result.
const maxResultMeta = 1024

// resultMeta returns what the headers of resp, nil for none, add to the "_meta" of
// the result: valid text by key, nil for nothing.
func resultMeta(t *table.Tool, resp *upstream.Response) map[string]string {
	if resp == nil {
		return nil
	}
	var meta map[string]string
	for _, m := range t.ResultMeta {
		values := resp.Header[m.GetHeader()]
		if len(values) == 0 {
			continue
		}
		if meta == nil {
			meta = make(map[string]string, len(t.ResultMeta))
		}
		meta[m.GetKey()] = cut(strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD"))
	}
	return meta
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
