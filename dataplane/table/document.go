package table

import (
	"encoding/base64"
	"fmt"
	"time"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Document is JSON that is served to anyone who asks for its path.
type Document struct {
	Path         string
	Body         []byte // not to be changed
	ETag         string // quoted; it follows from Body
	MediaType    string
	CacheControl string
}

func newDocument(d *irv1.Document) *Document {
	digest := irv1.DigestOf(d.GetJson())
	return &Document{
		Path:         d.GetPath(),
		Body:         d.GetJson(),
		ETag:         `"` + base64.RawURLEncoding.EncodeToString(digest[:]) + `"`,
		MediaType:    d.GetMediaType(),
		CacheControl: fmt.Sprintf("public, max-age=%d", d.GetMaxAge().AsDuration()/time.Second),
	}
}

// documents returns those of bindings by path.
func documents(bindings []*binding) map[string]*Document {
	all := map[string]*Document{}
	for _, b := range bindings {
		for _, d := range b.documents {
			all[d.Path] = d
		}
	}
	return all
}
