package trial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// maxDepth is how deep values that are compared may be nested.
const maxDepth = 1024

// decode returns the value that data is; data that is no JSON stands for its text.
func decode(data []byte) any {
	v, err := rawjson.Parse(data, maxDepth)
	if err != nil {
		return string(data)
	}
	return v.Decode()
}

// absent stands for a member or element that is not there.
type absent struct{}

// difference returns where two decoded JSON values differ: the order of members does
// not count, nor how a number is written.
func difference(where string, want, got any) []Problem {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return differentMembers(where, w, g)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return differentElements(where, w, g)
		}
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(w.String(), g.String()) {
			return nil
		}
	default:
		if want == got {
			return nil
		}
	}
	return []Problem{{where, show(want), show(got)}}
}

func differentMembers(where string, want, got map[string]any) (problems []Problem) {
	names := maps.Clone(want)
	maps.Copy(names, got)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		w, inWant := want[name]
		g, inGot := got[name]
		switch at := where + member(name); {
		case !inWant:
			problems = append(problems, difference(at, absent{}, g)...)
		case !inGot:
			problems = append(problems, difference(at, w, absent{})...)
		default:
			problems = append(problems, difference(at, w, g)...)
		}
	}
	return problems
}

func differentElements(where string, want, got []any) (problems []Problem) {
	for i := range max(len(want), len(got)) {
		var w, g any = absent{}, absent{}
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		problems = append(problems, difference(fmt.Sprintf("%s[%d]", where, i), w, g)...)
	}
	return problems
}

var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// member returns the step from an object to its member.
func member(name string) string {
	if plain.MatchString(name) {
		return "." + name
	}
	return fmt.Sprintf("[%q]", name)
}

// show returns a value as JSON, "" for one that is absent.
func show(v any) string {
	if v == (absent{}) {
		return ""
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// sameNumber reports whether two JSON numbers have the same value, however many
// digits they have.
func sameNumber(a, b string) bool {
	return a == b || string(rawjson.Value(a).Normal()) == string(rawjson.Value(b).Normal())
}
