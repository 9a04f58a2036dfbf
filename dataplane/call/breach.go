package call

import (
	"errors"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/schema"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Breach is a body that broke its schema, told in words of the schema alone: it
// holds nothing that the caller or the upstream sent.
type Breach struct {
	Direction Direction
	Place     string // see [schema.Violation.Place]
	Keyword   string // the JSON Schema keyword that refused; "" when it could not be checked
}

// Direction is the way that a body goes.
type Direction string

// The directions.
const (
	Payload Direction = "payload" // from the caller to the upstream
	Result  Direction = "result"  // from the upstream to the caller
)

// breach returns what err, of [schema.Schema.Check], says of a body.
func breach(d Direction, err error) Breach {
	var v *schema.Violation
	if errors.As(err, &v) {
		return Breach{Direction: d, Place: v.Place, Keyword: v.Keyword}
	}
	return Breach{Direction: d, Place: "$"}
}

// errNoBody is why a response without a body breaks its schema.
var errNoBody = &schema.Violation{Path: "$", Place: "$", Keyword: "required", Message: "There is no body"}

// checked returns o, the outcome of the response resp, as the tool's output schema
// leaves it: a result that breaks the schema either fails or goes out as it is.
func checked(t *table.Tool, resp *response, o Outcome) Outcome {
	if t.Output == nil || t.Output.Schema == nil || o.Class != OK || o.Part != nil {
		return o
	}
	var err error = errNoBody
	if o.Body != nil {
		err = t.Output.Schema.Check(rawjson.Value(o.Body))
	}
	if err == nil {
		return o
	}
	if t.Output.Check == irv1.Check_CHECK_ENFORCE {
		o = failed(t, irv1.Failure_FAILURE_UNUSABLE, resp, errors.New("the body of the response breaks the output schema"))
		o.Class = InvalidResult
	}
	o.Breaches = []Breach{breach(Result, err)}
	return o
}
