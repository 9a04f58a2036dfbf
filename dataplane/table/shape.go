package table

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/schema"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxSchemaDepth is how deep a schema document can be.
const maxSchemaDepth = 512

// A part is where the schema of a body or an argument is: a document of the bundle
// and a JSON Pointer in it.
type part struct {
	document irv1.Digest
	pointer  string
}

// inputPart is the part of t that payloads are held to.
func inputPart(t *irv1.Tool) part {
	return part{irv1.Digest(t.GetInputSchema()), "/properties/payload"}
}

// outputPart is the part of t that results are held to; o is not nil.
func outputPart(o *irv1.Output) part {
	p := part{document: irv1.Digest(o.GetSchema())}
	if o.GetWrapped() {
		p.pointer = "/properties/value"
	}
	return p
}

// A shape is a schema document made ready.
type shape struct {
	document rawjson.Value  // without newlines
	body     *schema.Schema // nil when the document says nothing about the part
}

// input returns the shape of t's arguments.
func (b *builder) input(t *irv1.Tool) (*shape, error) {
	s, err := b.shape(inputPart(t))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the input schema %w", err)
	case !s.isObject():
		return nil, errors.New("the input schema is not that of an object")
	}
	return s, nil
}

// output returns the shape of t's results; nil when nothing is known of them.
func (b *builder) output(t *irv1.Tool) (*shape, error) {
	o := t.GetOutput()
	if o == nil {
		return nil, nil
	}
	s, err := b.shape(outputPart(o))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the output schema %w", err)
	case o.GetShown() && !s.isObject():
		return nil, errors.New("the output schema is not that of an object")
	}
	return s, nil
}

// shape returns the schema document of p, whose body is compiled at most once.
func (b *builder) shape(p part) (*shape, error) {
	if s := cmp.Or(b.next.shapes[p], b.prev.shapes[p]); s != nil {
		b.next.shapes[p] = s
		return s, nil
	}
	s, err := newShape(b.content.Schemas[p.document], p.pointer)
	if err != nil {
		return nil, err
	}
	b.next.shapes[p] = s
	return s, nil
}

func newShape(document []byte, pointer string) (*shape, error) {
	v, err := rawjson.Parse(document, maxSchemaDepth)
	if err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	s := &shape{document: v.OneLine()}
	if pointer != "" && v.Lookup(strings.Split(pointer[1:], "/")) == nil {
		return s, nil
	}
	s.body, err = schema.Compile(document, pointer)
	if err != nil {
		return nil, fmt.Errorf("does not compile: %w", err)
	}
	return s, nil
}

// isObject reports whether the document says that it is of an object, as MCP asks of
// the schemas that clients see.
func (s *shape) isObject() bool {
	kind, _ := s.document.Member("type").Text()
	return kind == "object"
}
