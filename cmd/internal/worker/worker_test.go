package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cue/compile"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// The arguments by which the test binary is one of the children that a child can
// turn out to be.
const (
	childSilent  = "test-child-silent"  // exits with 3 and says nothing
	childFlood   = "test-child-flood"   // writes for ever
	childGarbage = "test-child-garbage" // succeeds with what is no compiled module
	childLate    = "test-child-late"    // answers, and does not end
	childEnv     = "test-child-env"     // fails with its environment
	childHungry  = "test-child-hungry"  // limits itself and takes all memory
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case Arg:
			os.Exit(Main())
		case childSilent:
			os.Exit(3)
		case childFlood:
			for {
				os.Stdout.Write(make([]byte, 1<<20))
			}
		case childGarbage:
			fmt.Print("hello")
			os.Exit(0)
		case childLate:
			os.Stdout.Write(framed(nil))
			for {
				time.Sleep(time.Hour)
			}
		case childEnv:
			fmt.Fprintln(os.Stderr, strings.Join(os.Environ(), " "))
			os.Exit(1)
		case childHungry:
			os.Exit(hungry())
		}
	}
	os.Exit(m.Run())
}

func hungry() int {
	if err := limit(); err != nil {
		return 1
	}
	var all [][]byte
	for {
		block := make([]byte, 64<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		all = append(all, block)
		runtime.KeepAlive(all) // all of it, or it would be collected
	}
}

func module(main string) *sourcev1.Sources {
	return &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"library.example@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: []byte("package bindings\n" + main)},
	}}
}

const library = `
import "bindery.dev/bind"

bindings: library: bind.#Binding & {
	upstream: url: "https://library.example.com"
	tools: shelf: {
		description: "List a shelf."
		http:        "GET /shelves/{id}"
		args: id: description: "The shelf."
	}
}
`

// TestCompile: the child gives what compiling here gives.
func TestCompile(t *testing.T) {
	for _, main := range []string{library, library + "\nbindings: library: tools: shelf: nonsense: 1\n"} {
		want, err := compile.Module(t.Context(), module(main))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Compile(t.Context(), module(main))
		if err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(got, want) {
			t.Errorf("the child gives\n%v\nwant\n%v", got, want)
		}
	}
}

// TestTurns: no more children than turns compile at once, and whoever waits for one can
// give up.
func TestTurns(t *testing.T) {
	for range cap(turns) {
		turns <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compile(ctx, module(library)); !errors.Is(err, context.Canceled) {
		t.Errorf("without a turn: %v", err)
	}
	done := make(chan error, 2*cap(turns))
	for range cap(done) {
		go func() {
			c, err := Compile(t.Context(), module(library))
			if err == nil && c.GetBundle() == nil {
				err = fmt.Errorf("diagnostics %v", c.GetDiagnostics())
			}
			done <- err
		}()
	}
	select {
	case err := <-done:
		t.Errorf("compiled without a turn: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	for range cap(turns) {
		<-turns
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(turns) > 0 {
		t.Errorf("%d turns are not given back", len(turns))
	}
}

// TestBombs: sources that would hang a process or take it down end as one
// diagnostic that says which limit they hit and what to do.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("bombs take seconds")
	}
	unions := &strings.Builder{}
	for i := range 14 {
		fmt.Fprintf(unions, "x: {a%d: 1} | {b%d: 1} | {c%d: 1}\n", i, i, i)
	}
	tests := []struct {
		name, source string
		deadline     time.Duration
		want         string // in the message
	}{
		{"unions on one level", unions.String(), 2 * time.Second, "took longer than 2s"},
		{"nested for", "import \"list\"\nl: list.Range(0, 3000, 1)\nx: [for a in l for b in l for c in l {a + b + c}]\n", 2 * time.Second, "took longer than 2s"},
		{"long range", "import \"list\"\nx: list.Range(0, 1_000_000_000, 1)\n", 2 * time.Second, "took longer than 2s"},
		{"deep expression", "x: 1" + strings.Repeat("+1", 4<<20) + "\n", time.Minute, "nests deeper"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			c := child{args: []string{Arg}, deadline: tt.deadline}
			got, err := c.compile(t.Context(), module(tt.source))
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > c.deadline+5*time.Second {
				t.Errorf("took %v", took)
			}
			if got.Bundle != nil || len(got.Diagnostics) != 1 {
				t.Fatalf("got %v, want one diagnostic", got)
			}
			d := got.Diagnostics[0]
			t.Logf("after %v: %s", time.Since(began), d.Message)
			if d.Code != "compile-limit" || d.Hint == "" || !strings.Contains(d.Message, tt.want) {
				t.Errorf("got %v, want compile-limit with %q", d, tt.want)
			}
		})
	}
}

// TestMemory: the system's limit on memory, and not the machine, ends a child.
func TestMemory(t *testing.T) {
	if raceDetector {
		t.Skip("no limit on address space under the race detector")
	}
	_, err := child{args: []string{childHungry}, deadline: time.Minute}.run(t.Context(), nil)
	if err == nil || err.Error() != tookTooMuchMemory().what {
		t.Errorf("got %v, want %s", err, tookTooMuchMemory().what)
	}
}

func TestChildFails(t *testing.T) {
	tests := []struct{ arg, want string }{
		{childSilent, "compile: the child ended with exit status 3 and said nothing"},
		{childFlood, "compile: the child writes more than a compiled module can hold"},
		{childGarbage, "compile: the child wrote what is no compiled module"},
	}
	for _, tt := range tests {
		t.Run(tt.arg, func(t *testing.T) {
			_, err := child{args: []string{tt.arg}, deadline: time.Minute}.compile(t.Context(), module(""))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestLateEnd holds that nobody waits for the end of a child that has answered, and that
// it is ended.
func TestLateEnd(t *testing.T) {
	p, err := child{args: []string{childLate}, deadline: time.Minute}.start()
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := p.run(t.Context(), nil); err != nil || len(answer) != 0 {
		t.Errorf("got %q, %v", answer, err)
	}
	<-p.ended
	if p.err == nil {
		t.Error("it ended by itself")
	}
}

// TestEnvironment: a child that others' sources run in sees no secret.
func TestEnvironment(t *testing.T) {
	t.Setenv("BINDERY_SECRET_X", "hush")
	_, err := child{args: []string{childEnv}, deadline: time.Minute}.run(t.Context(), nil)
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("the child's environment is %q", err)
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := child{args: []string{childFlood}, deadline: time.Minute}.compile(ctx, module(""))
	if !errors.Is(err, context.Canceled) && !errors.Is(err, errFlood) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestStandby holds that a Standby compiles as Compile does, each time in another
// child that was there before, and also when that has gone; and that none is left.
func TestStandby(t *testing.T) {
	s := NewStandby()
	want, err := Compile(t.Context(), module(library))
	if err != nil {
		t.Fatal(err)
	}
	children := map[int]bool{}
	for i := range 3 {
		waiting := s.next
		children[waiting.cmd.Process.Pid] = true
		if i == 1 {
			waiting.stop()
		}
		got, err := s.Compile(t.Context(), module(library))
		if err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(got, want) {
			t.Errorf("compiled to %v, want %v", got, want)
		}
		<-waiting.ended // or the child that waited was not used
	}
	if len(children) != 3 {
		t.Errorf("%d children for 3 modules", len(children))
	}
	last := s.next
	s.Close()
	if last.waits() {
		t.Error("a child is left")
	}
	if _, err := s.Compile(t.Context(), module(library)); err != nil || s.next != nil {
		t.Errorf("after Close: %v, and waiting %v", err, s.next)
	}
}

// TestAhead holds that what was begun is used for the same sources and for no others.
func TestAhead(t *testing.T) {
	one, other := module(library), module(library+"\n// another one\n")
	for _, tt := range []struct {
		name  string
		begun []*sourcev1.Sources
		used  bool
	}{
		{"the same", []*sourcev1.Sources{one}, true}, {"begun anew", []*sourcev1.Sources{other, one}, true}, {"others", []*sourcev1.Sources{other}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := NewStandby()
			for _, begun := range tt.begun {
				s.Ahead(begun)
			}
			a := s.ahead
			compiled, err := s.Compile(t.Context(), proto.CloneOf(one))
			if err != nil || compiled.GetBundle() == nil {
				t.Fatal(compiled.GetDiagnostics(), err)
			}
			<-a.done
			if used := a.compiled == compiled; used != tt.used {
				t.Errorf("what was begun is used: %t", used)
			}
			s.Ahead(one)
			s.Close()
		})
	}
}

// TestStandbyLimits holds that what ends a child of Compile ends one of a Standby.
func TestStandbyLimits(t *testing.T) {
	s := newStandby(child{args: []string{childFlood}, deadline: time.Minute})
	defer s.Close()
	if _, err := s.Compile(t.Context(), module(library)); !errors.Is(err, errFlood) {
		t.Errorf("a child that writes without end: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Compile(ctx, module(library)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
}
