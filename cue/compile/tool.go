package compile

import (
	"errors"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// tool reads a tool and adds its input schema and its places to the binding.
func (rd *reading) tool(name string, v value) *irv1.Tool {
	source := &places{binding: rd.out.name, tool: name, base: len(v.path)}
	v.source = source
	v.note()
	t := &irv1.Tool{
		Name:        name,
		Title:       v.get("title").text(),
		Description: v.get("description").text(),
		Hidden:      !v.get("listed").flagOr(true),
		Meta:        rd.toolMeta(v.get("meta")),
		Timeout:     durationpb.New(time.Duration(v.get("timeout").number(int64(defaultTimeout * time.Second)))),
		Annotations: annotations(v.get("annotations")),
	}
	rd.surface(t, v)
	rd.result(t, v)
	args := v.get("args").fields()
	t.Arguments = rd.arguments(t, args)
	if s := v.get("http").text(); s != "" {
		rd.operation(t, s, v, args)
	}
	t.Retry = rd.retry(t, v.get("retry"))
	in := input{tool: t, rules: rd.out.ir.GetMeta(), bundle: rd.unit.module.documents.NewBundle(rd.patches, rd.list)}
	if ref := v.get("payload"); ref.exists() {
		t.Payload = &irv1.Payload{
			Required: v.get("payloadRequired").flag(),
			Check:    check(v.get("validate").get("payload"), irv1.Check_CHECK_ENFORCE),
		}
		in.payload = rd.bundled(in.bundle, ref, "payload")
	}
	rd.argumentSchemas(&in, args)
	t.Checks = rd.checks(t, v.get("checks"))
	schema := in.schema()
	rd.checkClientHeaders(t, schema.Get("properties"), args)
	t.InputSchema = rd.keep(schema)
	t.Output = rd.output(t, v)
	t.Asks = rd.asks(name, v.get("asks"))
	t.Requires = requires(v.get("requires"))
	t.Notices = rd.notices(v.get("notices"))
	rd.checkSigned(t, v)
	rd.checkShown(t, v.get("outputSchema"))
	rd.out.entries = append(rd.out.entries, source.entries...)
	rd.out.toolAt[name] = v.where()
	return t
}

// operation reads the method and path and checks that path and arguments agree.
func (rd *reading) operation(t *irv1.Tool, s string, v value, args map[string]value) {
	op, problem := parseOperation(s)
	if problem != "" {
		rd.badHTTP(v.get("http"), s, problem)
		return
	}
	t.Method, t.Path = op.method, op.path
	rd.checkArguments(t, v, args)
	if v.get("payload").exists() && t.Method == irv1.Method_METHOD_GET {
		rd.payloadOnGet(v.get("payload"))
	}
}

// toolMeta returns the fields of the meta rules that the tool does not leave out.
func (rd *reading) toolMeta(v value) []string {
	choice := v.fields()
	var taken, known []string
	for _, rule := range rd.out.ir.GetMeta() {
		known = append(known, rule.GetField())
		if c, stated := choice[rule.GetField()]; !stated || c.flag() {
			taken = append(taken, rule.GetField())
		}
	}
	for _, field := range sorted(choice) {
		if !slices.Contains(known, field) {
			rd.unknownMeta(choice[field], field, known)
		}
	}
	return taken
}

func annotations(v value) *irv1.Annotations {
	return &irv1.Annotations{
		ReadOnly:    v.get("readOnly").flag(),
		Destructive: v.get("destructive").flag(),
		Idempotent:  v.get("idempotent").flag(),
		OpenWorld:   v.get("openWorld").flag(),
	}
}

// keep adds a schema document to the binding's and returns its digest.
func (rd *reading) keep(schema *document.Value) []byte {
	data := schema.AppendJSON(nil)
	rd.out.schemas = append(rd.out.schemas, data)
	digest := irv1.DigestOf(data)
	return digest[:]
}

// bundled finds the schema that ref names and adds it to bundle for the property of
// that name; nil when there is none.
func (rd *reading) bundled(bundle *document.Bundle, ref value, property string) *document.Value {
	doc, pointer := rd.locate(ref.text(), ref)
	if doc == nil {
		return nil
	}
	return bundle.Add(doc, pointer, document.Pointer("properties", property))
}

// bundle returns the schema at a pointer of doc and its definitions.
func (rd *reading) bundle(doc *document.Document, pointer, here string, list *diag.List) (schema, defs *document.Value) {
	bundle := rd.unit.module.documents.NewBundle(rd.patches, list)
	return bundle.Add(doc, pointer, here), bundle.Defs
}

// locate finds the schema that ref, which is written at v, names. It reports what
// keeps it from that, and then doc is nil.
func (rd *reading) locate(ref string, v value) (doc *document.Document, pointer string) {
	file, pointer, pointed := strings.Cut(ref, "#")
	from := v
	switch {
	case ref == "":
		return nil, ""
	case !pointed && rd.schema.quiet() == "":
		rd.noDocument(v, ref)
		return nil, ""
	case !pointed:
		file, pointer, from = rd.schema.quiet(), document.Pointer("$defs", ref), rd.schema
	}
	if doc = rd.document(file, from); doc == nil {
		return nil, ""
	}
	if _, err := doc.At(pointer); err != nil {
		rd.noSchema(v, ref, doc, err)
		return nil, ""
	}
	return doc, pointer
}

// document opens the document that from names, relative to the directory where that
// is written.
func (rd *reading) document(name string, from value) *document.Document {
	file := rd.pathOf(name, from)
	documents := rd.unit.module.documents
	doc, err := documents.Open(file)
	var syntax *document.SyntaxError
	switch {
	case errors.As(err, &syntax):
		rd.badDocument(syntax)
	case err != nil:
		rd.missingDocument(from, name, file, documents.Names())
	}
	return doc
}
