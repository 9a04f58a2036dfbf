package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A Violation is the failure that is most worth fixing first. It names members and
// what the schema says, never a value.
type Violation struct {
	// Path is where, as an RFC 9535 JSONPath from "$", such as "$.items[0].id". If a
	// member is missing it is the place where it should be.
	Path string
	// Keyword is the JSON Schema keyword that refused.
	Keyword string
	// Message is a sentence without a full stop, such as "Missing required field:
	// currency".
	Message string
	// Root says that the value as a whole has the wrong type.
	Root bool

	depth int  // in steps from the root
	vague int  // 0 for a plain failure, 1 for one of several alternatives
	tag   bool // the schema allows one constant
}

// Error returns path and message.
func (v *Violation) Error() string { return v.Path + ": " + v.Message }

// explain chooses one violation among the failures of root, always the same one for
// the same value: the shallowest; of those at one depth a missing member first,
// then by path and keyword.
func explain(root *jsonschema.ValidationError, value any) *Violation {
	all := collect(root, value)
	slices.SortStableFunc(all, compare)
	return all[0]
}

func compare(a, b *Violation) int {
	return cmp.Or(
		cmp.Compare(a.vague, b.vague),
		cmp.Compare(a.depth, b.depth),
		cmp.Compare(rank(a.Keyword), rank(b.Keyword)),
		strings.Compare(a.Path, b.Path),
		strings.Compare(a.Keyword, b.Keyword),
		strings.Compare(a.Message, b.Message),
	)
}

// rank puts what is missing before what is wrong, and what is superfluous last: a
// misspelt member is both missing and superfluous.
func rank(keyword string) int {
	switch keyword {
	case "required", "dependentRequired", "dependencies":
		return 0
	case "additionalProperties", "unevaluatedProperties", "propertyNames":
		return 2
	}
	return 1
}

// collect returns the violations under e, at least one: all of those that must all
// be fixed, and one alternative of those of which one must be.
func collect(e *jsonschema.ValidationError, value any) []*Violation {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Reference, *kind.Group, *kind.AllOf:
		if len(e.Causes) == 0 {
			break
		}
		var all []*Violation
		for _, cause := range e.Causes {
			all = append(all, collect(cause, value)...)
		}
		return all
	case *kind.AnyOf:
		return alternative(e, "anyOf", value)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return alternative(e, "oneOf", value)
		}
	case *kind.Required:
		return []*Violation{missing(e, "required", k.Missing, value)}
	case *kind.DependentRequired:
		return []*Violation{missing(e, "dependentRequired", k.Missing, value)}
	case *kind.Dependency:
		return []*Violation{missing(e, "dependencies", k.Missing, value)}
	}
	return []*Violation{leaf(e, value)}
}

// alternative returns the failures of the alternative that the value seems to be
// meant as: neither of another type nor with another constant than the value has,
// and with fewer failures than the others. If none stands out, the failure is that
// no alternative matches.
func alternative(e *jsonschema.ValidationError, keyword string, value any) []*Violation {
	here := at(e.InstanceLocation, value)
	here.Keyword, here.Message, here.vague = keyword, "Value matches none of the allowed forms", 1
	var best []*Violation
	tie := false
	for _, cause := range e.Causes {
		failures := collect(cause, value)
		switch {
		case slices.ContainsFunc(failures, here.excludes):
		case best == nil || len(failures) < len(best):
			best, tie = failures, false
		case len(failures) == len(best):
			tie = true
		}
	}
	if best == nil || tie {
		return []*Violation{here}
	}
	for _, v := range best {
		v.vague = 1
	}
	return best
}

// excludes reports whether the failure f says that the value at v is not meant as
// the alternative that f is of.
func (v *Violation) excludes(f *Violation) bool {
	return f.Keyword == "type" && f.Path == v.Path || f.tag && f.depth <= v.depth+1
}

func missing(e *jsonschema.ValidationError, keyword string, names []string, value any) *Violation {
	v := at(append(slices.Clone(e.InstanceLocation), names[0]), value)
	v.Keyword, v.Message = keyword, "Missing required field: "+names[0]
	v.depth = len(e.InstanceLocation)
	return v
}

func leaf(e *jsonschema.ValidationError, value any) *Violation {
	location := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		location = append(slices.Clone(location), slices.Min(k.Properties))
	case *kind.PropertyNames:
		// The library (6.0.3) goes on writing to the location of this one error.
		location = nil
	}
	v := at(location, value)
	v.Keyword, v.Message = keyword(e.ErrorKind), message(e.ErrorKind)
	v.Root = len(location) == 0 && v.Keyword == "type"
	v.tag = isTag(e.ErrorKind)
	return v
}

// isTag reports whether k is a failure to be the one value that the schema allows.
func isTag(k jsonschema.ErrorKind) bool {
	switch k := k.(type) {
	case *kind.Const:
		return true
	case *kind.Enum:
		return len(k.Want) == 1
	}
	return false
}

// at returns a violation at the place in value that tokens lead to. Where a name is
// too long to be repeated, the path ends before it.
func at(tokens []string, value any) *Violation {
	path := []byte("$")
	for i, token := range tokens {
		if array, ok := value.([]any); ok {
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(array) {
				break
			}
			path, value = fmt.Appendf(path, "[%d]", index), array[index]
			continue
		}
		if len(token) > maxName || len(path) > maxPath {
			return &Violation{Path: string(path), depth: i}
		}
		object, _ := value.(map[string]any)
		path, value = appendName(path, token), object[token]
	}
	return &Violation{Path: string(path), depth: len(tokens)}
}

// maxName and maxPath bound, in bytes, what of a caller's own names an error
// repeats.
const (
	maxName = 128
	maxPath = 512
)

// appendName appends the step to a member in the shorthand of RFC 9535, or else as
// its normalized path has it.
func appendName(path []byte, name string) []byte {
	if isIdentifier(name) {
		return append(append(path, '.'), name...)
	}
	path = append(path, "['"...)
	for _, r := range name {
		switch {
		case r == '\'' || r == '\\':
			path = append(path, '\\', byte(r))
		case r < ' ':
			path = fmt.Appendf(path, `\u%04x`, r)
		default:
			path = append(path, string(r)...)
		}
	}
	return append(path, "']"...)
}

func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
