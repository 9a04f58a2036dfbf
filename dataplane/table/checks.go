package table

import (
	"slices"

	"github.com/bindery-dev/bindery/dataplane/check"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Checks are what a call is held to beside the payload's schema, sorted by name.
type Checks struct {
	Request  []*check.Check // look at the request only
	Response []*check.Check
}

func newChecks(source []*irv1.CallCheck) Checks {
	var checks Checks
	for _, s := range source {
		if c := check.New(s); c.Response {
			checks.Response = append(checks.Response, c)
		} else {
			checks.Request = append(checks.Request, c)
		}
	}
	return checks
}

// Names returns those of all checks, in no order.
func (c Checks) Names() []string {
	var names []string
	for _, check := range slices.Concat(c.Request, c.Response) {
		names = append(names, check.Name)
	}
	return names
}
