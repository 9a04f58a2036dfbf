package acp_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
)

// A generator makes instances of the definitions of one document, most of them
// valid, the same ones for the same seed.
type generator struct {
	defs map[string]any
	rand *rand.Rand
}

// samples has one match for each pattern and format of the official documents.
var samples = map[string]string{
	`^\d{4}-\d{2}-\d{2}$`: "2026-04-17",
	`^[a-z]{3}$`:          "usd",
	`^[0-9]{4}$`:          "4242",
	`^[a-z][a-z0-9_-]*(@\d{4}-\d{2}-\d{2})?$|^[a-z][a-z0-9]*(?:\.[a-z][a-z0-9_-]*)+(@\d{4}-\d{2}-\d{2})?$`: "discount",
	`^\$\.[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9_]*)*$`:                                                 "$.CheckoutSession.discounts",
	"uri":       "https://shop.example.com/a",
	"email":     "ada@example.com",
	"date-time": "2026-11-21T10:00:00Z",
}

// instance makes an instance of schema s. Deep down it leaves out what it may.
func (g *generator) instance(s map[string]any, depth int) any {
	if ref, ok := s["$ref"].(string); ok {
		return g.instance(g.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), depth)
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if e, ok := s["enum"].([]any); ok {
		return e[g.rand.IntN(len(e))]
	}
	if arms, ok := s["oneOf"].([]any); ok {
		return g.instance(arms[g.rand.IntN(len(arms))].(map[string]any), depth)
	}
	switch typeOf(s, g.rand) {
	case "string":
		return g.text(s)
	case "integer":
		return json.Number("7")
	case "number":
		return json.Number("2.5")
	case "boolean":
		return g.rand.IntN(2) == 0
	case "array":
		return g.array(s, depth)
	default:
		return g.object(s, depth)
	}
}

func typeOf(s map[string]any, r *rand.Rand) string {
	switch typ := s["type"].(type) {
	case string:
		return typ
	case []any:
		return typ[r.IntN(len(typ))].(string)
	}
	return "object"
}

func (g *generator) text(s map[string]any) string {
	for _, keyword := range []string{"pattern", "format"} {
		if name, ok := s[keyword].(string); ok {
			return samples[name]
		}
	}
	return "ab" // short enough for every maxLength
}

func (g *generator) array(s map[string]any, depth int) any {
	items, _ := s["items"].(map[string]any)
	a := []any{}
	if items != nil {
		for range 1 + g.rand.IntN(2) {
			x := g.instance(items, depth+1)
			if s["uniqueItems"] != true || len(a) == 0 {
				a = append(a, x)
			}
		}
	}
	return a
}

// object fills what is required and, with a chance that falls with depth, the
// rest. An anyOf of required members gets those of one arm.
func (g *generator) object(s map[string]any, depth int) any {
	o := map[string]any{}
	if all, ok := s["allOf"].([]any); ok {
		for _, arm := range all {
			if part, ok := g.instance(arm.(map[string]any), depth).(map[string]any); ok {
				for k, v := range part {
					o[k] = v
				}
			}
		}
	}
	must := names(s["required"])
	if arms, ok := s["anyOf"].([]any); ok {
		must = append(must, names(arms[g.rand.IntN(len(arms))].(map[string]any)["required"])...)
	}
	props, _ := s["properties"].(map[string]any)
	for _, name := range sortedKeys(props) {
		if slices.Contains(must, name) || g.rand.IntN(2+depth) == 0 {
			o[name] = g.instance(props[name].(map[string]any), depth+1)
		}
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok {
		o["note"] = g.instance(more, depth+1)
	}
	return o
}

func names(v any) []string {
	var list []string
	for _, x := range asList(v) {
		list = append(list, x.(string))
	}
	return list
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// A place is one value inside an instance and the way to change it there.
type place struct {
	get  func() any
	set  func(any)
	drop func() // nil: not a member of an object
}

// places lists every value in root, in a fixed order, root itself first.
func places(root *any) []place {
	list := []place{{get: func() any { return *root }, set: func(v any) { *root = v }}}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range sortedKeys(v) {
				list = append(list, place{
					get:  func() any { return v[k] },
					set:  func(x any) { v[k] = x },
					drop: func() { delete(v, k) },
				})
				visit(v[k])
			}
		case []any:
			for i := range v {
				list = append(list, place{get: func() any { return v[i] }, set: func(x any) { v[i] = x }})
				visit(v[i])
			}
		}
	}
	visit(*root)
	return list
}

// replacements is what a mutation puts in the place of a value; null more often
// than others, since it is what the documents differ most about.
var replacements = []any{
	nil, nil, nil, nil, true, json.Number("-1"), json.Number("0"), json.Number("3"), json.Number("1.5"), json.Number("1e30"),
	"", "zz", "Not A Known Value", "2026-13-45", "2026-11-21T10:00:00Z", "usd", strings.Repeat("x", 300), strings.Repeat("x", 6000),
	[]any{}, []any{"a"}, []any{"a", "a"}, []any{nil}, map[string]any{}, map[string]any{"type": "zz"},
}

// additions are the members a mutation adds to objects: one nobody knows, and
// those that one side might know in more places than the other.
var additions = []struct {
	name  string
	value any
}{
	{"zz_unknown", json.Number("3")},
	{"quantity", json.Number("3")},
	{"payment_methods", []any{"card"}},
	{"extensions", []any{}},
	{"name", "ab"},
	{"type", "card"},
	{"order_notes", nil},
	{"metadata", map[string]any{}},
}

// mutate changes one place of v.
func mutate(v *any, r *rand.Rand) {
	list := places(v)
	p := list[r.IntN(len(list))]
	switch o, isObject := p.get().(map[string]any); {
	case isObject && r.IntN(2) == 0:
		add := additions[r.IntN(len(additions))]
		o[add.name] = copyOf(add.value)
	case p.drop != nil && r.IntN(4) == 0:
		p.drop()
	default:
		p.set(copyOf(replacements[r.IntN(len(replacements))]))
	}
}

// copyOf copies containers, so that a later mutation changes one of them only.
func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[k] = copyOf(x)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, x := range v {
			l[i] = copyOf(x)
		}
		return l
	}
	return v
}
