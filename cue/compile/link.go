package compile

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// link makes the bundle and the source map, if nothing is wrong so far and the
// bindings agree with each other.
func link(all []*binding, compiled *sourcev1.Compiled, list *diag.List) error {
	r := report{list}
	bindings := owned(all, r)
	checkNames(bindings, (*irv1.Binding).GetTools, irv1.MaxTools, r.duplicateTool, r.tooManyTools)
	checkNames(bindings, (*irv1.Binding).GetPrompts, irv1.MaxPrompts, r.duplicatePrompt, r.tooManyPrompts)
	checkShelves(bindings, r)
	checkWidgets(bindings, r)
	checkCodes(bindings, r)
	checkRedacted(bindings, r)
	shareEndpoints(bindings, r)
	linkDocuments(bindings, r)
	if list.Failed() {
		return nil
	}
	if len(bindings) == 0 {
		r.noBindings()
		return nil
	}
	var ir []*irv1.Binding
	var schemas, files [][]byte
	var places []*sourcev1.SourceMapEntry
	for _, b := range bindings {
		ir = append(ir, b.ir)
		schemas, files = append(schemas, b.schemas...), append(files, b.files...)
		places = append(places, b.entries...)
	}
	slices.SortFunc(places, compareEntries)
	bundle, err := irv1.Parts{Bindings: ir, Schemas: schemas, Files: files}.Seal()
	if err != nil {
		r.tooLargeToSeal(err)
		return nil
	}
	if err := validate(bundle, places, r); err != nil || list.Failed() {
		return err
	}
	compiled.Bundle, compiled.SourceMap = bundle, &sourcev1.SourceMap{Entries: places}
	return nil
}

// validate reports what would make a node refuse the bundle and no check has found.
func validate(bundle *irv1.Bundle, places []*sourcev1.SourceMapEntry, r report) error {
	content, err := irv1.Open(bundle)
	if err != nil {
		return err
	}
	for _, p := range content.Validate() {
		r.invalid(nearest(places, p), p)
	}
	return nil
}

// nearest returns the place of what p names, or of the nearest that encloses it.
// places are sorted.
func nearest(places []*sourcev1.SourceMapEntry, p irv1.Problem) *sourcev1.Position {
	want := &sourcev1.SourceMapEntry{Binding: p.Binding, Tool: p.Tool, Field: p.Field}
	for {
		if i, found := slices.BinarySearchFunc(places, want, compareEntries); found {
			return places[i].GetPosition()
		}
		switch {
		case want.Field != "":
			want.Field = want.Field[:max(0, strings.LastIndexByte(want.Field, '.'))]
		case want.Tool != "":
			want.Tool = ""
		default:
			return nil
		}
	}
}

func compareEntries(a, b *sourcev1.SourceMapEntry) int {
	return cmp.Or(strings.Compare(a.GetBinding(), b.GetBinding()), strings.Compare(a.GetTool(), b.GetTool()),
		strings.Compare(a.GetField(), b.GetField()))
}

// owned returns each binding once, sorted by name: as the shallowest directory
// has it. A directory below has it too, and must not have changed it.
func owned(all []*binding, r report) []*binding {
	slices.SortFunc(all, func(a, b *binding) int {
		return cmp.Or(strings.Compare(a.name, b.name), levels(a.dir)-levels(b.dir), strings.Compare(a.dir, b.dir))
	})
	var kept []*binding
	for _, b := range all {
		if len(kept) == 0 || kept[len(kept)-1].name != b.name {
			kept = append(kept, b)
			continue
		}
		owner := kept[len(kept)-1]
		switch {
		case owner.dir != "." && !inside(b.dir, owner.dir):
			r.sameName(b, owner)
		case !proto.Equal(owner.ir, b.ir):
			r.changed(b, owner)
		}
	}
	return kept
}

func levels(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// checkNames reports what two bindings put at one endpoint by one name, and an endpoint
// with more than most.
func checkNames[T interface{ GetName() string }](bindings []*binding, of func(*irv1.Binding) []T, most int,
	twice func(b, other *binding, name string), tooMany func(b *binding, endpoint string)) {
	type place struct{ endpoint, name string }
	owners := map[place]*binding{}
	counts := map[string]int{}
	for _, b := range bindings {
		for _, t := range of(b.ir) {
			at := place{b.ir.GetEndpoint(), t.GetName()}
			if other := owners[at]; other != nil {
				twice(b, other, t.GetName())
				continue
			}
			owners[at] = b
			if counts[at.endpoint]++; counts[at.endpoint] == most+1 {
				tooMany(b, at.endpoint)
			}
		}
	}
}

// checkCodes reports bindings of one endpoint that have different codes for what there
// is not: then there is no binding to say which of them counts.
func checkCodes(bindings []*binding, r report) {
	type place struct {
		endpoint string
		kind     irv1.Kind
	}
	owners := map[place]*binding{}
	for _, b := range bindings {
		for _, k := range irv1.Kinds() {
			code := b.ir.GetErrors().Codes(k).GetNotFound()
			at := place{b.ir.GetEndpoint(), k}
			switch other := owners[at]; {
			case code == 0:
			case other == nil:
				owners[at] = b
			case other.ir.GetErrors().Codes(k).GetNotFound() != code:
				r.codeConflict(b, other, k)
			}
		}
	}
}
