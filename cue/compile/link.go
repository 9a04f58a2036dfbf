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

// maxTools is how many tools one endpoint may have.
const maxTools = 10_000

// link makes the bundle and the source map, if nothing is wrong so far and the
// bindings agree with each other.
func link(all []*binding, compiled *sourcev1.Compiled, list *diag.List) error {
	r := report{list}
	bindings := owned(all, r)
	checkEndpoints(bindings, r)
	if list.Failed() {
		return nil
	}
	if len(bindings) == 0 {
		r.noBindings()
	}
	var ir []*irv1.Binding
	var schemas [][]byte
	var entries []*sourcev1.SourceMapEntry
	for _, b := range bindings {
		ir = append(ir, b.ir)
		schemas = append(schemas, b.schemas...)
		entries = append(entries, b.entries...)
	}
	bundle, err := irv1.Seal(ir, schemas)
	if err != nil {
		r.tooLargeToSeal(err)
		return nil
	}
	slices.SortFunc(entries, func(a, b *sourcev1.SourceMapEntry) int {
		return cmp.Or(strings.Compare(a.GetBinding(), b.GetBinding()), strings.Compare(a.GetTool(), b.GetTool()),
			strings.Compare(a.GetField(), b.GetField()))
	})
	compiled.Bundle, compiled.SourceMap = bundle, &sourcev1.SourceMap{Entries: entries}
	return nil
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

// checkEndpoints reports tools that two bindings put at one endpoint.
func checkEndpoints(bindings []*binding, r report) {
	type place struct{ endpoint, tool string }
	owners := map[place]*binding{}
	counts := map[string]int{}
	for _, b := range bindings {
		for _, t := range b.ir.GetTools() {
			at := place{b.ir.GetEndpoint(), t.GetName()}
			if other := owners[at]; other != nil {
				r.duplicateTool(b, other, t.GetName())
				continue
			}
			owners[at] = b
			if counts[at.endpoint]++; counts[at.endpoint] == maxTools+1 {
				r.tooManyTools(b, at.endpoint)
			}
		}
	}
}
