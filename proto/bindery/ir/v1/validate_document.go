package irv1

import (
	"encoding/json"
	"time"
	"unicode/utf8"
)

// MaxDocumentAge is the longest that a document can be kept by others.
const MaxDocumentAge = 365 * 24 * time.Hour

// documents checks the documents of all bindings. endpoints are those of the
// bundle, by path.
func (p *problems) documents(bindings []*Binding, endpoints map[string]map[string]string) {
	owners := map[string]string{}
	for _, b := range bindings {
		p.binding = b.GetName()
		for _, d := range b.GetDocuments() {
			field := "documents." + d.GetPath()
			p.document(field, d)
			p.check(owners[d.GetPath()] == "", field, "binding %q has a document of this path, too", owners[d.GetPath()])
			p.check(endpoints[d.GetPath()] == nil, field, "MCP is served at this path")
			owners[d.GetPath()] = b.GetName()
		}
	}
	p.binding = ""
}

func (p *problems) document(field string, d *Document) {
	p.check(validEndpoint(d.GetPath()), field, "%q cannot be the path of a document", d.GetPath())
	body := d.GetJson()
	p.check(json.Valid(body) && utf8.Valid(body) && body[0] == '{', field+".body", "it is not a JSON object")
	p.check(d.GetMediaType() != "" && ValidHeaderValue(d.GetMediaType()), field+".mediaType", "%q is not a media type", d.GetMediaType())
	age := d.GetMaxAge()
	p.check(age.IsValid() && age.AsDuration() >= 0 && age.AsDuration() <= MaxDocumentAge, field+".maxAge",
		"it must be at most %s", MaxDocumentAge)
}
