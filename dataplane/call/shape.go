package call

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/bindery-dev/bindery/dataplane/content"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// shaped returns o, the outcome of the response resp, with the parts of content that the
// tool makes of the body, and with what is left for the result then. What cannot be a
// part, or is more than a result may have, fails.
func shaped(t *table.Tool, resp *response, o Outcome) Outcome {
	if o.Class != OK {
		return o
	}
	var left []*irv1.ContentPart // what one of them would have taken is lost to nobody
	if len(t.Content) > 0 && o.Part == nil {
		var err error
		if o.Content, left, err = content.Of(t.Content, o.Body); err != nil {
			return unfit(t, resp, o, irv1.Failure_FAILURE_UNUSABLE, err)
		}
	}
	rest := rawjson.Value(o.Body)
	for _, at := range t.Moved {
		if !content.Takes(left, at) {
			rest = rest.Without(at.GetTokens())
		}
	}
	o.Rest = rest
	size := len(rest)
	if o.Part != nil {
		size = len(o.Part.Data)
	}
	for _, p := range o.Content {
		size += p.Size()
	}
	if t.MaxResult > 0 && int64(size) > t.MaxResult {
		return unfit(t, resp, o, irv1.Failure_FAILURE_TOO_LARGE, errors.New("the result is larger than maxResultBytes"))
	}
	return o
}

// unfit is the outcome of a response that became o, and cannot be a result.
func unfit(t *table.Tool, resp *response, o Outcome, failure irv1.Failure, why error) Outcome {
	f := failed(t, failure, resp, why)
	f.Breaches, f.Checks = o.Breaches, o.Checks
	return f
}

// tooLarge says what a caller can do about an answer that is too large.
func tooLarge(t *table.Tool) string {
	most := cmp.Or(t.MaxResult, t.Service.MaxResponse)
	return fmt.Sprintf("The answer of the service is larger than the %d bytes that a result of this tool may have. Ask for less at once, for example for a smaller page.", min(most, t.Service.MaxResponse))
}
