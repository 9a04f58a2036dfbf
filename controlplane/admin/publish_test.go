package admin

import (
	"slices"
	"testing"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestSummary holds that a revision is described by what clients see of it.
func TestSummary(t *testing.T) {
	b, err := irv1.Parts{Bindings: []*irv1.Binding{{Name: "library", Endpoint: "/mcp", Tools: []*irv1.Tool{
		{Name: "get_book"}, {Name: "get_cover", Hidden: true},
	}}}}.Seal()
	if err != nil {
		t.Fatal(err)
	}
	all, err := summarise(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].GetName() != "library" || all[0].GetEndpoint() != "/mcp" || !slices.Equal(all[0].GetTools(), []string{"get_book"}) {
		t.Errorf("got %v", all)
	}
}
