package call

import (
	"fmt"

	"github.com/bindery-dev/bindery/dataplane/check"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// held returns o, the outcome of the response resp to the arguments a, as the checks
// that look at the response leave it: a result that fails one fails, or goes out as
// it is.
func held(t *table.Tool, a arguments, resp *response, o Outcome) Outcome {
	if o.Class != OK {
		return o
	}
	unmet := check.Failed(t.Checks.Response, a.all, rawjson.Value(o.Body))
	if c := rejecting(unmet); c != nil {
		breaches := o.Breaches
		o = failed(t, irv1.Failure_FAILURE_UNUSABLE, resp, fmt.Errorf("the response fails check %q", c.Name))
		o.Breaches = breaches
	}
	o.Checks = names(unmet)
	return o
}

// rejecting returns the first of checks that refuses a call; nil for none.
func rejecting(checks []*check.Check) *check.Check {
	for _, c := range checks {
		if c.Rejects {
			return c
		}
	}
	return nil
}

func names(checks []*check.Check) []string {
	var all []string
	for _, c := range checks {
		all = append(all, c.Name)
	}
	return all
}
