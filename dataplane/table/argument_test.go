package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// withArgument is shop, whose add_pet takes an argument "size" held to schema.
func withArgument(schema string) *bundle {
	b := shop()
	tool := b.bindings[0].GetTools()[0]
	document := []byte(fmt.Sprintf(`{"type":"object","properties":{"size":%s}}`, schema))
	digest := irv1.DigestOf(document)
	b.schemas, tool.InputSchema = append(b.schemas, document), digest[:]
	tool.Payload, tool.Arguments = nil, []*irv1.Argument{{
		Name: "size", In: irv1.ArgumentIn_ARGUMENT_IN_BODY, Type: irv1.ArgumentType_ARGUMENT_TYPE_ANY, Place: []string{"is", "big"}, Checked: true,
	}}
	return b
}

// A schema of an argument is compiled once, whatever else of its binding changes,
// also when a table in between changed nothing.
func TestArgumentSchemaIsShared(t *testing.T) {
	b := withArgument(`{"maximum":3}`)
	first := b.build(t, nil, table.Deps{})
	second := b.build(t, first, table.Deps{})
	b.bindings[0].Title = "changed"
	third := b.build(t, second, table.Deps{})
	before, after := first.Endpoint("/mcp").Tool("add_pet"), third.Endpoint("/mcp").Tool("add_pet")
	if before == after || before.Args[0].Schema == nil || before.Args[0].Schema != after.Args[0].Schema {
		t.Error("an equal schema is compiled again")
	}
	if len(after.Body) != 1 || len(after.Body[0].Fields) != 1 || after.Body[0].Fields[0].Argument != "size" {
		t.Errorf("body is %+v", after.Body)
	}
}

func TestBadArgumentSchema(t *testing.T) {
	b := withArgument(`{"pattern":"("}`)
	r := refused(t, b, nil, secret.New("", nil))
	if want := `binding "pets": tool "add_pet": args: the schema of argument "size" does not compile`; len(r.Reasons) != 1 || !strings.HasPrefix(r.Reasons[0].Text(), want) {
		t.Errorf("reasons are %v, want one like %s", r.Reasons, want)
	}
	b.bindings[0].Tools[0].Arguments[0].Name = "weight"
	if r := refused(t, b, nil, secret.New("", nil)); len(r.Reasons) != 1 {
		t.Errorf("an argument without schema: %v", r.Reasons)
	}
}
