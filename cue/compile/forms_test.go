package compile

import (
	"testing"

	"cuelang.org/go/cue/ast"

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
