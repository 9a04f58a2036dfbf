// Package locale negotiates languages: what a client wants and what an endpoint supports
// come in, and one language goes out.
package locale

import (
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Key is the member of "_meta" in which a client says what it wants, and a node what it
// gets.
const Key = "openai/locale"

// oldKey is the member in which clients said so before they used [Key].
const oldKey = "webplus/i18n"

// maxTag is how long a tag is that can be a language's, in bytes.
const maxTag = 128

// A Set is the languages that are supported. The nil Set is none. It is not changed and
// may be used concurrently.
type Set struct {
	byLower  map[string]string // tags as they are told, by their lower case
	fallback string
}

// New returns the languages of source; nil for nil.
func New(source *irv1.Locales) *Set {
	if source == nil {
		return nil
	}
	s := &Set{byLower: map[string]string{}, fallback: source.GetFallback()}
	for _, tag := range source.GetSupported() {
		s.byLower[strings.ToLower(tag)] = tag
	}
	return s
}

// Of returns the language for a request with meta as its "_meta", nil for none; "" when
// it names none, or when s has none.
func (s *Set) Of(meta rawjson.Value) string {
	if s == nil || meta == nil {
		return ""
	}
	for _, key := range []string{Key, oldKey} {
		if tag, ok := meta.Member(key).Text(); ok && tag != "" {
			return s.lookup(tag)
		}
	}
	return ""
}

// lookup returns the language for a tag by the lookup of RFC 4647, section 3.4: the tag,
// or what is left of it when its end is cut off piece by piece, or else the default.
func (s *Set) lookup(tag string) string {
	if len(tag) > maxTag {
		return s.fallback
	}
	for rest := strings.ToLower(tag); rest != ""; rest = shorter(rest) {
		if known, ok := s.byLower[rest]; ok {
			return known
		}
	}
	return s.fallback
}

// shorter returns tag without its last subtag, and without one of a single character
// that would then be the last; "" when nothing is left.
func shorter(tag string) string {
	tag = tag[:max(strings.LastIndexByte(tag, '-'), 0)]
	if n := len(tag); n >= 2 && tag[n-2] == '-' {
		tag = tag[:n-2]
	}
	return tag
}
