package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/bindery-dev/bindery/dataplane/place"
)

// A Violation is the failure that is most worth fixing first. It names members and
// what the schema says, never a value.
type Violation struct {
	// Path is where, as an RFC 9535 JSONPath from "$", such as "$.items[0].id". If a
	// member is missing it is the place where it should be.
	Path string
	// Place is Path in words of the schema alone, such as "$.items[*].id": every index
	// is "*", and so is a name that the schema does not state. Whatever callers send,
	// a schema has a limited number of places.
	Place string
	// Keyword is the JSON Schema keyword that refused.
	Keyword string
	// Message is a sentence without a full stop, such as "Missing required field:
	// currency".
	Message string
	// Root says that the value as a whole has the wrong type.
	Root bool
	// Tokens are the reference tokens (RFC 6901) of the place.
	Tokens []string

	of    subject
	depth int        // in steps from the root
	vague int        // 0 for a plain failure, 1 for one of several alternatives
	tag   bool       // the schema allows one constant
	types *kind.Type // that the schema allows, where the value has another; nil: not so
}

// Error returns path and message.
func (v *Violation) Error() string { return v.Path + ": " + v.Message }

// Discreet returns v without names that only the value has, below the first depth
// steps to the place: there a name can be something that nobody should read. The path
// ends before the first one.
func (v *Violation) Discreet(depth int) *Violation {
	discreet := *v
	if v.Keyword == "propertyNames" {
		discreet.Message = "Field name is not allowed"
	}
	value := v.of.value
	for i, token := range v.Tokens {
		if array, ok := value.([]any); ok {
			value = element(array, token)
			continue
		}
		if i >= depth && !v.of.stated[token] {
			discreet.Path = v.of.at(v.Tokens[:i]).Path
			break
		}
		object, _ := value.(map[string]any)
		value = object[token]
	}
	return &discreet
}

// A subject is a value that broke a schema.
type subject struct {
	value  any
	stated map[string]bool // names that the schema states
}

// explain chooses one violation among the failures of root, always the same one for
// the same value: the shallowest; of those at one depth a missing member first,
// then by path and keyword.
func (s subject) explain(root *jsonschema.ValidationError) *Violation {
	all := s.collect(root)
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
func (s subject) collect(e *jsonschema.ValidationError) []*Violation {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Reference, *kind.Group, *kind.AllOf:
		if len(e.Causes) == 0 {
			break
		}
		var all []*Violation
		for _, cause := range e.Causes {
			all = append(all, s.collect(cause)...)
		}
		return all
	case *kind.AnyOf:
		return s.alternative(e, "anyOf")
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return s.alternative(e, "oneOf")
		}
	case *kind.Required:
		return []*Violation{s.missing(e, "required", k.Missing)}
	case *kind.DependentRequired:
		return []*Violation{s.missing(e, "dependentRequired", k.Missing)}
	case *kind.Dependency:
		return []*Violation{s.missing(e, "dependencies", k.Missing)}
	}
	return []*Violation{s.leaf(e)}
}

// alternative returns the failures of the alternative that the value seems to be
// meant as: neither of another type nor with another constant than the value has,
// and with fewer failures than the others. If none stands out, the failure is that
// no alternative matches, or that all are of other types.
func (s subject) alternative(e *jsonschema.ValidationError, keyword string) []*Violation {
	here := s.at(e.InstanceLocation)
	here.Keyword, here.Message, here.vague = keyword, "Value matches none of the allowed forms", 1
	var all [][]*Violation
	for _, cause := range e.Causes {
		all = append(all, s.collect(cause))
	}
	var best []*Violation
	tie := false
	for _, failures := range all {
		switch {
		case slices.ContainsFunc(failures, here.excludes):
		case best == nil || len(failures) < len(best):
			best, tie = failures, false
		case len(failures) == len(best):
			tie = true
		}
	}
	if best == nil || tie {
		if types := here.typesOf(all); types != nil {
			here.Keyword, here.Message, here.Root = "type", message(types), here.depth == 0
			here.types = types
		}
		return []*Violation{here}
	}
	for _, v := range best {
		v.vague = 1
	}
	return best
}

// typesOf returns the types of all alternatives, whose failures are given, if the value
// at v has none of them; nil otherwise.
func (v *Violation) typesOf(alternatives [][]*Violation) *kind.Type {
	all := &kind.Type{}
	for _, failures := range alternatives {
		i := slices.IndexFunc(failures, func(f *Violation) bool { return f.types != nil && f.Path == v.Path })
		if i < 0 {
			return nil
		}
		all.Got = failures[i].types.Got
		for _, name := range failures[i].types.Want {
			if !slices.Contains(all.Want, name) {
				all.Want = append(all.Want, name)
			}
		}
	}
	return all
}

// excludes reports whether the failure f says that the value at v is not meant as
// the alternative that f is of.
func (v *Violation) excludes(f *Violation) bool {
	return f.Keyword == "type" && f.Path == v.Path || f.tag && f.depth <= v.depth+1
}

func (s subject) missing(e *jsonschema.ValidationError, keyword string, names []string) *Violation {
	v := s.at(append(slices.Clone(e.InstanceLocation), names[0]))
	v.Keyword, v.Message = keyword, "Missing required field: "+names[0]
	v.depth = len(e.InstanceLocation)
	return v
}

func (s subject) leaf(e *jsonschema.ValidationError) *Violation {
	location := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		location = append(slices.Clone(location), slices.Min(k.Properties))
	case *kind.PropertyNames:
		// The library (6.0.3) goes on writing to the location of this one error.
		location = nil
	}
	v := s.at(location)
	v.Keyword, v.Message = keyword(e.ErrorKind), message(e.ErrorKind)
	v.Root = len(location) == 0 && v.Keyword == "type"
	v.tag = isTag(e.ErrorKind)
	v.types, _ = e.ErrorKind.(*kind.Type)
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

// at returns a violation at the place in the value that tokens lead to. Where a name
// is too long to be repeated, the path ends before it.
func (s subject) at(tokens []string) *Violation {
	path, value := []byte("$"), s.value
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
			return &Violation{Path: string(path), Place: s.place(tokens), Tokens: tokens, of: s, depth: i}
		}
		object, _ := value.(map[string]any)
		path, value = place.AppendMember(path, token), object[token]
	}
	return &Violation{Path: string(path), Place: s.place(tokens), Tokens: tokens, of: s, depth: len(tokens)}
}

// place returns the path of tokens in words of the schema. Below maxSteps it says no
// more.
func (s subject) place(tokens []string) string {
	path, value := []byte("$"), s.value
	for i, token := range tokens {
		if i == maxSteps {
			return string(append(path, "..*"...))
		}
		if array, ok := value.([]any); ok {
			path, value = append(path, "[*]"...), element(array, token)
			continue
		}
		object, _ := value.(map[string]any)
		value = object[token]
		if s.stated[token] {
			path = place.AppendMember(path, token)
		} else {
			path = append(path, ".*"...)
		}
	}
	return string(path)
}

func element(array []any, token string) any {
	index, err := strconv.Atoi(token)
	if err != nil || index < 0 || index >= len(array) {
		return nil
	}
	return array[index]
}

// maxSteps is how deep a place says where a violation is.
const maxSteps = 16

// maxName and maxPath bound, in bytes, what of a caller's own names an error
// repeats.
const (
	maxName = 128
	maxPath = 512
)
