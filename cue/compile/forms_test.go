package compile

import (
	"fmt"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

	"github.com/bindery-dev/bindery/cue/outline"
)

// TestForms holds that what Go knows of the language's forms is what the language
// says, and that each says what it is made of.
func TestForms(t *testing.T) {
	x := examiner{unit: &unit{module: &module{shape: func() outline.Cursor { return shapeOf(schemaFiles()) }}}}
	inGo := map[string]string{"#Name": bindingName.String(), "#Member": argumentName.String()}
	for definition := range nouns {
		forms := x.formsIn(ast.NewIdent(definition))
		if len(forms) != 1 || forms[0].about == "" {
			t.Errorf("the language has no form %s, or no comment on it: %+v", definition, forms)
			continue
		}
		if want, ok := inGo[definition]; ok && forms[0].pattern != want {
			t.Errorf("%s is %s, and Go has %s", definition, forms[0].pattern, want)
		}
	}
}

// TestUncommented holds that what CUE gets of the language says what its files say.
func TestUncommented(t *testing.T) {
	for name, data := range schemaFiles() {
		if want, got := said(t, name, data), said(t, name, uncommented(data)); got != want {
			t.Errorf("%s without comments says\n%s\nwant\n%s", name, got, want)
		}
	}
}

// said returns the nodes of a file, without comments and positions.
func said(t *testing.T, name string, data []byte) string {
	t.Helper()
	f, err := parser.ParseFile(name, data)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	ast.Walk(f, func(n ast.Node) bool {
		fmt.Fprintf(&b, "%T", n)
		switch x := n.(type) {
		case *ast.Ident:
			fmt.Fprintf(&b, " %s", x.Name)
		case *ast.BasicLit:
			fmt.Fprintf(&b, " %s", x.Value)
		case *ast.BinaryExpr:
			fmt.Fprintf(&b, " %s", x.Op)
		case *ast.UnaryExpr:
			fmt.Fprintf(&b, " %s", x.Op)
		case *ast.Field:
			fmt.Fprintf(&b, " %s", x.Constraint)
		}
		b.WriteString("\n")
		return true
	}, nil)
	return b.String()
}
