// Package trial runs offline cases: a bundle and cases come in, and a verdict on each
// case goes out.
//
// A case is run by what a node runs: [table.Build] makes the bundle runnable,
// [call.Do] makes the call, and [result.Of] says what the caller gets. Only what is
// around them is played: the connection, the clock, the source of UUIDs and the
// secrets. Nothing leaves the process.
package trial

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-dev/bindery/cue/cases"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Verdict is what became of a case.
type Verdict struct {
	Case *cases.Case
	// Problems are what is not as the case states it; none: it passed.
	Problems []Problem
	// Tool is the name of the tool that was called; "" for none.
	Tool string
	// Rule is the name of the error rule that made the caller's error; "" for none.
	Rule string
	// Retries are the names of the error rules for which a request was sent again.
	Retries []string
	// Checks are those of the tool that the call failed.
	Checks []string
	// Large is how many bytes of structured content the result has, where models do not
	// work well with so many; 0 otherwise.
	Large int
	Took  time.Duration
}

// Passed reports whether everything was as the case states it.
func (v *Verdict) Passed() bool { return len(v.Problems) == 0 }

// A Problem is one thing that is not as it is stated.
type Problem struct {
	// Where is a path, such as "request.headers.Request-Id" or
	// "result.structuredContent.books[0].title".
	Where string
	// Want and Got are JSON, or a text of a body; "" is nothing.
	Want, Got string
}

// casesPerStage is for how many cases it is worth to set another stage: setting one
// costs about as much as running these.
const casesPerStage = 100

// Run runs all cases, several at a time, and returns their verdicts in the order of
// the cases. The error says why the bundle cannot be made runnable, or is that of
// ctx.
func Run(ctx context.Context, bundle *irv1.Content, all []*cases.Case) ([]Verdict, error) {
	verdicts := make([]Verdict, len(all))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), len(all)/casesPerStage+1) {
		group.Go(func() error {
			s, err := newStage(bundle)
			if err != nil {
				return fmt.Errorf("a node would refuse the module: %w", err)
			}
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				verdicts[i] = s.run(ctx, all[i])
			}
			return nil
		})
	}
	return verdicts, group.Wait()
}
