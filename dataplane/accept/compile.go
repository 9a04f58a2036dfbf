package accept

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// compiler makes nodes of schemas.
type compiler struct {
	doc    rawjson.Value
	format func(string) func(string) bool
	nodes  map[string]*node                    // by JSON Pointer from the document's root
	parts  map[string]map[string]rawjson.Value // of values that references lead into, by pointer and token
	known  map[string]func(string) bool        // formats, by name; to make one costs more than a node
}

func (c *compiler) formatOf(name string) func(string) bool {
	check, ok := c.known[name]
	if !ok {
		check = c.format(name)
		c.known[name] = check
	}
	return check
}

// at returns the node of the schema v, which is at a JSON Pointer; one for each.
func (c *compiler) at(pointer string, v rawjson.Value) *node {
	if n := c.nodes[pointer]; n != nil {
		return n
	}
	n := &node{}
	c.nodes[pointer] = n
	c.fill(n, v, pointer)
	return n
}

// below returns the node of the schema v, which stands at tokens below pointer.
func (c *compiler) below(v rawjson.Value, pointer string, tokens ...string) *node {
	for _, t := range tokens {
		pointer += "/" + escape.Replace(t)
	}
	return c.at(pointer, v)
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// lookup returns the value at a JSON Pointer, which is "" or begins with a slash; nil
// when there is none.
func (c *compiler) lookup(pointer string) rawjson.Value {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return c.doc
	}
	return c.children(pointer[:i])[unescape.Replace(pointer[i+1:])]
}

// children returns what is in the value at a JSON Pointer, by token. Each value is taken
// apart once, however many references lead into it.
func (c *compiler) children(pointer string) map[string]rawjson.Value {
	all, ok := c.parts[pointer]
	if ok {
		return all
	}
	all = map[string]rawjson.Value{}
	v := c.lookup(pointer)
	for name, value := range v.Members() {
		if text, ok := name.Text(); ok {
			all[text] = value
		}
	}
	for e := range v.Elements() {
		all[strconv.Itoa(len(all))] = e
	}
	c.parts[pointer] = all
	return all
}

// fill reads the schema v, which is at pointer, into n.
func (c *compiler) fill(n *node, v rawjson.Value, pointer string) {
	switch v.Kind() {
	case rawjson.Bool:
		n.never = string(v) == "false"
		return
	case rawjson.Object:
	default:
		n.vague = true
		return
	}
	n.text.maximum, n.array.maximum = -1, -1
	var shared struct{ object, array bool }
	for name, value := range v.Members() {
		keyword, _ := name.Text()
		if !c.keyword(n, keyword, value, pointer) {
			n.vague = true
		}
		switch keyword { // leaves members to another keyword, or elements
		case "patternProperties":
			shared.object = true
		case "prefixItems":
			shared.array = true
		}
	}
	if shared.object {
		n.object.others = nil
	}
	if shared.array {
		n.array.items = nil
	}
}

// keyword reads one keyword into n, and reports whether it is understood.
func (c *compiler) keyword(n *node, keyword string, v rawjson.Value, pointer string) bool {
	switch keyword {
	case "title", "description", "default", "deprecated", "readOnly", "writeOnly", "$schema", "$defs", "$comment", "example", "examples":
		return true
	case "type":
		return n.setTypes(v)
	case "enum":
		return n.list(v)
	case "const":
		return !n.listed && n.add(v)
	case "$ref":
		return c.reference(n, v)
	case "allOf":
		return c.group(&n.all, v, pointer, keyword)
	case "anyOf":
		return c.group(&n.any, v, pointer, keyword)
	case "oneOf":
		return c.group(&n.one, v, pointer, keyword)
	case "properties", "required", "additionalProperties":
		return c.objects(&n.object, keyword, v, pointer)
	case "items", "minItems", "maxItems", "uniqueItems":
		return c.arrays(&n.array, keyword, v, pointer)
	case "minLength", "maxLength", "pattern", "format":
		return c.texts(&n.text, keyword, v)
	case "minimum", "maximum":
		return n.number.bound(keyword, v)
	}
	return false
}

func (n *node) setTypes(v rawjson.Value) bool {
	if v.Kind() != rawjson.Array {
		text, _ := v.Text()
		n.types = typeNames[text]
		return n.types != 0
	}
	for e := range v.Elements() {
		text, _ := e.Text()
		if typeNames[text] == 0 {
			return false
		}
		n.types |= typeNames[text]
	}
	return n.types != 0
}

// list reads enum. With enum and const in one schema both have to hold: that is left
// open.
func (n *node) list(v rawjson.Value) bool {
	if n.listed || v.Kind() != rawjson.Array {
		return false
	}
	n.listed = true
	for e := range v.Elements() {
		if !n.add(e) {
			n.listed, n.texts, n.scalars = false, nil, nil
			return false
		}
	}
	return true
}

// add adds a value to those that are allowed.
func (n *node) add(v rawjson.Value) bool {
	switch v.Kind() {
	case rawjson.String:
		text, _ := v.Text()
		if n.texts == nil {
			n.texts = map[string]bool{}
		}
		n.texts[text] = true
	case rawjson.Array, rawjson.Object:
		return false
	default:
		n.scalars = append(n.scalars, v)
	}
	n.listed = true
	return true
}

// reference follows a $ref within the document by JSON Pointer.
func (c *compiler) reference(n *node, v rawjson.Value) bool {
	ref, _ := v.Text()
	fragment, ok := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !ok || err != nil || pointer != "" && pointer[0] != '/' {
		return false
	}
	n.refs = append(n.refs, c.at(pointer, c.lookup(pointer)))
	return true
}

func (c *compiler) group(into *[]*node, v rawjson.Value, pointer, keyword string) bool {
	if v.Kind() != rawjson.Array {
		return false
	}
	i := 0
	for e := range v.Elements() {
		*into = append(*into, c.below(e, pointer, keyword, strconv.Itoa(i)))
		i++
	}
	return i > 0
}

func (c *compiler) objects(o *object, keyword string, v rawjson.Value, pointer string) bool {
	if o.members == nil {
		o.members = map[string]*member{}
	}
	switch keyword {
	case "additionalProperties":
		o.others = c.below(v, pointer, keyword)
	case "properties":
		for name, value := range v.Members() {
			text, _ := name.Text()
			o.member(text).schema = c.below(value, pointer, keyword, text)
		}
	case "required":
		for e := range v.Elements() {
			text, ok := e.Text()
			if !ok {
				return false
			}
			if m := o.member(text); !m.required {
				m.required = true
				o.required++
			}
		}
	}
	return true
}

func (o *object) member(name string) *member {
	m := o.members[name]
	if m == nil {
		m = &member{}
		o.members[name] = m
	}
	return m
}

func (c *compiler) arrays(a *array, keyword string, v rawjson.Value, pointer string) bool {
	switch keyword {
	case "items":
		a.items = c.below(v, pointer, keyword)
		return true
	case "uniqueItems":
		a.unique = string(v) == "true"
		return v.Kind() == rawjson.Bool
	}
	n, ok := integer(v)
	if !ok || n < 0 {
		return false
	}
	a.bounded = true
	if keyword == "minItems" {
		a.minimum = int(n)
	} else {
		a.maximum = int(n)
	}
	return true
}

func (c *compiler) texts(t *text, keyword string, v rawjson.Value) bool {
	s, isText := v.Text()
	switch keyword {
	case "pattern":
		p, err := regexp.Compile(s)
		t.pattern = p
		return isText && err == nil
	case "format":
		t.format = c.formatOf(s)
		return isText
	}
	n, ok := integer(v)
	if !ok || n < 0 {
		return false
	}
	t.bounded = true
	if keyword == "minLength" {
		t.minimum = int(n)
	} else {
		t.maximum = int(n)
	}
	return true
}

func (n *number) bound(keyword string, v rawjson.Value) bool {
	i, ok := integer(v)
	if keyword == "minimum" {
		n.minimum, n.hasMinimum = i, ok
	} else {
		n.maximum, n.hasMaximum = i, ok
	}
	return ok
}
