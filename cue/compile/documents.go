package compile

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A part is what one binding says of a document.
type part struct {
	binding string
	at      written
	ir      *irv1.Document  // what is unsaid is zero
	body    *document.Value // an object
}

// documents reads the parts that a binding has of documents. Until link puts them
// together they are in the binding's IR.
func (rd *reading) documents(v value) {
	fields := v.fields()
	for _, path := range sorted(fields) {
		f := fields[path]
		f.note()
		body := f.get("body")
		d := &irv1.Document{Path: path, Json: body.json(), MediaType: f.get("mediaType").text()}
		if age := f.get("maxAge"); age.exists() {
			d.MaxAge = durationpb.New(time.Duration(age.number(0)))
		}
		if d.Json == nil {
			continue // what is wrong with it has been reported
		}
		read, err := document.Parse(path, d.GetJson())
		if err != nil {
			rd.badBody(body, err)
			continue
		}
		body.note()
		rd.out.parts = append(rd.out.parts, part{rd.out.name, rd.unit.later(f.written), d, read.Root})
		rd.out.ir.Documents = append(rd.out.ir.Documents, d)
	}
}

// linkDocuments puts together what bindings, sorted by name, say of each document.
// The first one that has a part gets the whole.
func linkDocuments(bindings []*binding, r report) {
	endpoints := map[string]*binding{}
	for _, b := range slices.Backward(bindings) {
		endpoints[b.ir.GetEndpoint()] = b
	}
	wholes := map[string]*whole{}
	for _, b := range bindings {
		b.ir.Documents = nil
		for _, p := range b.parts {
			path := p.ir.GetPath()
			if at := endpoints[path]; at != nil {
				r.documentAtEndpoint(p, at)
				continue
			}
			if wholes[path] == nil {
				wholes[path] = &whole{report: r, owner: b}
			}
			wholes[path].add(p)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(wholes)) {
		w := wholes[path]
		w.owner.ir.Documents = append(w.owner.ir.Documents, w.ir())
	}
}

// A whole is a document that parts are put together to.
type whole struct {
	report
	owner *binding
	parts []part
	body  *document.Value
}

// add adds a part and reports where it contradicts those before.
func (w *whole) add(p part) {
	for _, other := range w.parts {
		if a, b := other.ir.GetMediaType(), p.ir.GetMediaType(); a != b && a != "" && b != "" {
			w.documentConflict(p, other, "mediaType")
		}
		if a, b := other.ir.GetMaxAge(), p.ir.GetMaxAge(); a != nil && b != nil && a.AsDuration() != b.AsDuration() {
			w.documentConflict(p, other, "maxAge")
		}
	}
	if w.body == nil {
		w.body = p.body
	}
	var conflicts [][]string
	w.body, conflicts = document.Merge(w.body, p.body)
	for _, path := range conflicts {
		w.documentConflict(p, w.author(path), append([]string{"body"}, path...)...)
	}
	w.parts = append(w.parts, p)
}

// author returns the first part before that has something at path of its body.
func (w *whole) author(path []string) part {
	i := slices.IndexFunc(w.parts, func(p part) bool {
		v := p.body
		for _, name := range path {
			v = v.Get(name)
		}
		return v != nil
	})
	return w.parts[max(i, 0)]
}

// ir returns the document with defaults for what no part says.
func (w *whole) ir() *irv1.Document {
	d := &irv1.Document{Path: w.parts[0].ir.GetPath(), Json: w.body.AppendJSON(nil)}
	for _, p := range w.parts {
		d.MediaType = cmp.Or(d.GetMediaType(), p.ir.GetMediaType())
		d.MaxAge = cmp.Or(d.GetMaxAge(), p.ir.GetMaxAge())
	}
	d.MediaType = cmp.Or(d.GetMediaType(), defaultMediaType)
	d.MaxAge = cmp.Or(d.GetMaxAge(), durationpb.New(defaultMaxAge*time.Second))
	return d
}
