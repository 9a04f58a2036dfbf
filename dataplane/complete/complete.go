// Package complete finds what to offer for a value that is being typed: a completion
// and what is typed so far come in, and an [Offer] goes out.
package complete

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/place"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// MaxValues is how many values are offered at once: as many as MCP has.
const MaxValues = 100

// Patience is how long a tool has to find values: an offer for what somebody typed
// before is none.
const Patience = 5 * time.Second

// An Offer is values, of which there are Total; at most [MaxValues] of them are here.
type Offer struct {
	Values []string
	Total  int
}

func (o *Offer) add(value string) {
	if o.Total++; o.Total <= MaxValues {
		o.Values = append(o.Values, value)
	}
}

// Match returns the values of c, which has its own, that begin with typed, be it in
// upper or lower case.
func Match(c *table.Completion, typed string) (o Offer) {
	typed = strings.ToLower(typed)
	for _, v := range c.Values {
		if strings.HasPrefix(v.Folded, typed) {
			o.add(v.Text)
		}
	}
	return o
}

// Ask calls the tool that has the values of c, as r is without arguments, and returns
// them. values has what is typed so far, and what is filled in already. A call that
// fails, or lasts longer than [Patience], offers nothing; the outcome says why.
func Ask(ctx context.Context, c *table.Completion, values fill.Values, r call.Request) (o Offer, done call.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	r.Arguments = fill.Arguments(c.Use.Arguments, values)
	done = call.Do(ctx, c.Use.Tool, r)
	for v := range place.Values(rawjson.Value(done.Body), c.At) {
		o.addAll(v)
	}
	return o, done
}

// addAll adds the text that v is, or those in the list that it is.
func (o *Offer) addAll(v rawjson.Value) {
	if text, ok := v.Text(); ok {
		o.add(text)
	}
	for element := range v.Elements() {
		if text, ok := element.Text(); ok {
			o.add(text)
		}
	}
}

// Append appends the members of the result of completion/complete to dst.
func (o Offer) Append(dst []byte) []byte {
	dst = append(dst, `"completion":{"values":[`...)
	for i, v := range o.Values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendQuote(dst, v)
	}
	dst = append(dst, `],"total":`...)
	dst = strconv.AppendInt(dst, int64(o.Total), 10)
	dst = append(dst, `,"hasMore":`...)
	dst = strconv.AppendBool(dst, o.Total > len(o.Values))
	return append(dst, '}')
}
