package table

import (
	"fmt"

	"github.com/bindery-dev/bindery/dataplane/schema"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// An Argument is one that a tool sends on.
type Argument struct {
	*irv1.Argument
	Schema *schema.Schema // what its value is held to beside its type; nil: nothing
}

// argumentPart is the part of t that values of a are held to.
func argumentPart(t *irv1.Tool, a *irv1.Argument) part {
	return part{irv1.Digest(t.GetInputSchema()), "/properties/" + a.GetName()}
}

// arguments returns those of t, in its order.
func (b *builder) arguments(t *irv1.Tool) ([]*Argument, error) {
	var all []*Argument
	for _, source := range t.GetArguments() {
		a := &Argument{Argument: source}
		if source.GetChecked() {
			s, err := b.shape(argumentPart(t, source))
			switch {
			case err != nil:
				return nil, fmt.Errorf("the schema of argument %q %w", source.GetName(), err)
			case s.body == nil:
				return nil, fmt.Errorf("the input schema says nothing of argument %q", source.GetName())
			}
			a.Schema = s.body
		}
		all = append(all, a)
	}
	return all, nil
}
