package compile

import (
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// widgetType is the media type of a widget.
const widgetType = "text/html+skybridge"

// resource reads a resource of the binding, whose tools have been read.
func (rd *reading) resource(name string, v value) *irv1.Resource {
	v.note()
	r := &irv1.Resource{
		Name:        name,
		Title:       v.get("title").text(),
		Description: v.get("description").text(),
		Uri:         v.get("uri").text(),
		MediaType:   v.get("mimeType").text(),
		Annotations: contentAnnotations(v.get("annotations")),
		EntryMeta:   rd.resourceMeta(v),
		Icons:       rd.icons(v.get("icons")),
		Cache:       cache(v.get("cache")),
	}
	if r.GetUri() != "" && !irv1.ValidURI(r.GetUri()) {
		rd.badURI(v.get("uri"), r.GetUri())
	}
	switch field := rd.oneBody(v, "text", "json", "file", "tool"); field {
	case "":
	case "tool":
		use, t := rd.use(v, nil)
		rd.checkReads(t, v)
		r.Body = &irv1.Resource_Use{Use: use}
		if size := v.get("size"); size.exists() {
			n := uint64(size.number(0))
			r.Size = &n
		}
	default:
		rd.checkIdle(v, "with", "size")
		rd.content(r, field, v)
	}
	return r
}

// checkReads warns of a tool, nil for none, that changes something when what is at v is
// read.
func (rd *reading) checkReads(t *irv1.Tool, v value) {
	if t != nil && !t.GetAnnotations().GetReadOnly() {
		rd.changingRead(v.get("tool"), t.GetName())
	}
}

// oneBody returns which of the fields of v has what is read, "" when that cannot be
// said: what is wrong is reported.
func (rd *reading) oneBody(v value, fields ...string) string {
	stated := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !v.get(f).exists() })
	switch {
	case len(stated) == 1:
		return stated[0]
	case len(stated) > 1:
		rd.severalBodies(v.get(stated[1]), fields)
	case v.cue.Err() == nil:
		rd.noBody(v, fields)
	}
	return ""
}

// checkIdle reports fields of v that are for what a tool gives.
func (rd *reading) checkIdle(v value, fields ...string) {
	for _, field := range fields {
		if f := v.get(field); f.exists() {
			rd.idleField(f, field, "it is for what a tool gives")
		}
	}
}

// content reads what the resource r, at v, always is, and what media type that has.
func (rd *reading) content(r *irv1.Resource, field string, v value) {
	body := v.get(field)
	var data []byte
	standard, ok := "", true
	switch field {
	case "text":
		data, standard = []byte(body.text()), "text/plain"
	case "json":
		body.note()
		data, standard = body.json(), "application/json"
		ok = data != nil // what is wrong otherwise has been reported
	case "file":
		data, ok = rd.file(body)
		standard = typeOfFile(body.quiet())
	}
	if v.get("widget").exists() {
		standard = widgetType
	}
	if r.GetMediaType() == "" {
		r.MediaType = standard
	}
	if !ok {
		return
	}
	if r.GetMediaType() == "" {
		rd.noMediaType(body, body.quiet())
	}
	r.Body = &irv1.Resource_File{File: rd.blob(data, field == "file" && !isText(r.GetMediaType()), body)}
	n := uint64(len(data))
	r.Size = &n
}

var audiences = map[string]irv1.Role{"user": irv1.Role_ROLE_USER, "assistant": irv1.Role_ROLE_ASSISTANT}

// contentAnnotations returns what v says of who content is for; nil for nothing.
func contentAnnotations(v value) *irv1.ContentAnnotations {
	a := &irv1.ContentAnnotations{LastModified: v.get("lastModified").text()}
	for _, s := range unique(v.get("audience").texts()) {
		a.Audience = append(a.Audience, audiences[s])
	}
	slices.Sort(a.Audience)
	if priority := v.get("priority"); priority.exists() {
		if f, err := priority.cue.Float64(); err == nil {
			priority.note()
			a.Priority = &f
		}
	}
	if equal(a, &irv1.ContentAnnotations{}) {
		return nil
	}
	return a
}

// isText reports whether what has a media type is read as text.
func isText(mediaType string) bool {
	base, _, _ := strings.Cut(mediaType, ";")
	name, subtype, _ := strings.Cut(strings.TrimSpace(base), "/")
	return name == "text" || strings.HasSuffix(subtype, "+json") || strings.HasSuffix(subtype, "+xml") || slices.Contains(texts, subtype)
}

// isMarkup reports whether what has a media type can hold what somebody runs.
func isMarkup(mediaType string) bool {
	base, _, _ := strings.Cut(mediaType, ";")
	_, subtype, _ := strings.Cut(strings.TrimSpace(base), "/")
	return strings.HasPrefix(subtype, "html") || strings.HasSuffix(subtype, "xml") || strings.HasSuffix(subtype, "script")
}

// texts are the subtypes of what is text though its type does not say so.
var texts = []string{"ecmascript", "graphql", "javascript", "json", "jsonl", "sql", "toml", "xml", "x-ndjson", "x-yaml", "yaml"}
