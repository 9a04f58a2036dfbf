package call

import (
	"errors"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Part is the body of a response that is no JSON, as a part of content.
type Part struct {
	Kind irv1.PartKind
	// MediaType is type and subtype in lower case, without parameters.
	MediaType string
	// Data is the body as it came, never empty. Where Kind is text it is valid UTF-8.
	Data []byte
}

// partOf returns the body of resp as a part; nil when resp is no success, or it is
// empty, or of no media type that t produces. The error, which does not quote the body,
// says why it cannot be one.
func partOf(t *table.Tool, resp *response) (*Part, error) {
	types := resp.Header["Content-Type"]
	if len(t.Produces) == 0 || !isSuccess(resp.Status) || len(types) != 1 || len(resp.Body) == 0 {
		return nil, nil
	}
	media, params, err := mime.ParseMediaType(types[0])
	if err != nil {
		return nil, nil
	}
	kind := kindOf(t.Produces, media)
	if kind == irv1.PartKind_PART_KIND_UNSPECIFIED {
		return nil, nil
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, errors.New("the body of the response is encoded, which was not asked for")
	}
	if kind == irv1.PartKind_PART_KIND_TEXT && !isUTF8(params["charset"], resp.Body) {
		return nil, errors.New("the body of the response is a text in another encoding than UTF-8")
	}
	return &Part{Kind: kind, MediaType: media, Data: resp.Body}, nil
}

// kindOf returns the part that ranges make of a media type, UNSPECIFIED for none.
func kindOf(ranges []*irv1.MediaRange, media string) irv1.PartKind {
	name, subtype, _ := strings.Cut(media, "/")
	i := slices.IndexFunc(ranges, func(r *irv1.MediaRange) bool {
		if table.TypeName(r.GetKind()) != name {
			return false
		}
		return r.GetSubtype() == subtype || r.GetSubtype() == "" && subtype != "html"
	})
	if i < 0 {
		return irv1.PartKind_PART_KIND_UNSPECIFIED
	}
	return ranges[i].GetKind()
}

// isUTF8 reports whether body, of a text in charset, "" for none stated, is UTF-8, which
// ASCII is a part of.
func isUTF8(charset string, body []byte) bool {
	return slices.Contains([]string{"", "utf-8", "us-ascii"}, strings.ToLower(charset)) && utf8.Valid(body)
}
