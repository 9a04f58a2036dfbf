package document

import (
	"bytes"
	"slices"
)

// Merge returns what a and b say together; neither is changed. Objects are merged
// member by member, those of a first, and lists are united: each element once, in
// ascending order when both are strings in ascending order, otherwise those of a
// first. All else must be equal: conflicts are the paths of members to the places
// where it is not, and there a prevails.
func Merge(a, b *Value) (merged *Value, conflicts [][]string) {
	switch {
	case a.Kind == Object && b.Kind == Object:
		return mergeObjects(a, b)
	case a.Kind == Array && b.Kind == Array:
		return Arr(unite(a.Items, b.Items)...), nil
	case a.Kind == b.Kind && bytes.Equal(a.Text, b.Text):
		return a, nil
	}
	return a, [][]string{nil}
}

func mergeObjects(a, b *Value) (merged *Value, conflicts [][]string) {
	merged = Obj(slices.Clone(a.Members)...)
	for _, m := range b.Members {
		i := slices.IndexFunc(merged.Members, func(other Member) bool { return other.Name == m.Name })
		if i < 0 {
			merged.Add(m.Name, m.Value)
			continue
		}
		both, below := Merge(merged.Members[i].Value, m.Value)
		merged.Members[i].Value = both
		for _, path := range below {
			conflicts = append(conflicts, append([]string{m.Name}, path...))
		}
	}
	return merged, conflicts
}

// unite returns the elements of a and b: a list of versions that begins with the
// oldest still does.
func unite(a, b []*Value) []*Value {
	united := []*Value{}
	seen := map[string]bool{}
	for _, item := range slices.Concat(a, b) {
		if text := string(item.AppendJSON(nil)); !seen[text] {
			seen[text] = true
			united = append(united, item)
		}
	}
	if ascending(a) && ascending(b) {
		slices.SortFunc(united, compareStrings)
	}
	return united
}

// ascending reports whether items are strings in ascending order.
func ascending(items []*Value) bool {
	return !slices.ContainsFunc(items, func(v *Value) bool { _, ok := v.AsString(); return !ok }) &&
		slices.IsSortedFunc(items, compareStrings)
}

func compareStrings(a, b *Value) int { return bytes.Compare(a.Text, b.Text) }
