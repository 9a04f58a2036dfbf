package rollout

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

// TestScripts runs the scripts in testdata. A script is commands, each with what
// follows from it below a line of dashes:
//
//	commit GEN [level=N] [feature=F]      the group should run GEN
//	connect S NODE [boot=B] [held=GEN] [level=N] [feature=F]
//	disconnect S                          stream S ends
//	ack S GEN
//	nack S GEN CODE                       for good
//	retryable S GEN CODE                  a Nack after which the node tries again
//	forget NODE
//	highest | ran GEN
//
// A generation is NUMBER/BUNDLE or EPOCH.NUMBER/BUNDLE; the epoch is 1 unless given.
// What follows are actions, "S <- GEN" with what the node holds, and then the nodes
// that are not as they were before.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := run(t, string(want))
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, want) {
				t.Errorf("%s goes otherwise (see with -update and git diff):\n%s", file, got)
			}
		})
	}
}

// run runs a script and returns it with what really followed.
func run(t *testing.T, script string) []byte {
	var out bytes.Buffer
	s := state{group: &Group{}, lines: map[string]string{}}
	for block := range strings.SplitSeq(strings.TrimSpace(script), "\n\n") {
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		commands, _, _ := strings.Cut(block, "\n----")
		fmt.Fprintln(&out, commands)
		last := commands[strings.LastIndex(commands, "\n")+1:]
		if strings.HasPrefix(last, "#") {
			continue // nothing but a comment
		}
		fmt.Fprintln(&out, "----")
		for line := range strings.SplitSeq(commands, "\n") {
			if !strings.HasPrefix(line, "#") {
				s.clock = s.clock.Add(time.Second)
				out.WriteString(s.do(t, strings.Fields(line)))
			}
		}
		out.WriteString(s.changes())
	}
	return out.Bytes()
}

type state struct {
	group *Group
	clock time.Time
	lines map[string]string // the last line of each node
}

func (s *state) do(t *testing.T, words []string) string {
	args, options := words[1:], map[string]string{}
	for len(args) > 0 && strings.Contains(args[len(args)-1], "=") {
		k, v, _ := strings.Cut(args[len(args)-1], "=")
		options[k], args = v, args[:len(args)-1]
	}
	level := uint32(1)
	if options["level"] != "" {
		level = uint32(number(t, options["level"]))
	}
	var features []string
	if options["feature"] != "" {
		features = []string{options["feature"]}
	}
	switch words[0] {
	case "commit":
		return text(s.group.Commit(s.clock, Wanted{Generation: generation(t, args[0]), Level: level, Features: features}))
	case "connect":
		hello := &discoveryv1.Hello{Node: args[1], Boot: options["boot"], IrLevels: []uint32{level}, Features: features}
		if options["held"] != "" {
			hello.Held = generation(t, options["held"])
		}
		return text(s.group.Connect(s.clock, stream(t, args[0]), hello))
	case "disconnect":
		s.group.Disconnect(s.clock, stream(t, args[0]))
	case "ack":
		return text(s.group.Ack(s.clock, stream(t, args[0]), generation(t, args[1]), time.Millisecond))
	case "nack", "retryable":
		return text(s.group.Nack(s.clock, stream(t, args[0]), &discoveryv1.Nack{
			Generation: generation(t, args[1]), Retryable: words[0] == "retryable", Reasons: []*discoveryv1.Reason{{Code: args[2]}},
		}))
	case "forget":
		s.group.Forget(args[0], s.clock)
	case "highest":
		return fmt.Sprintln("highest:", s.group.Highest(1))
	case "ran":
		return fmt.Sprintln("ran:", s.group.Ran(generation(t, args[0])))
	default:
		t.Fatalf("unknown command %q", words)
	}
	return ""
}

func text(actions []Action) string {
	var b strings.Builder
	for _, a := range actions {
		switch {
		case a.End:
			fmt.Fprintf(&b, "end s%d\n", a.Stream)
		case a.Held != nil:
			fmt.Fprintf(&b, "s%d <- %s, holding %s\n", a.Stream, short(a.Offer), short(a.Held))
		default:
			fmt.Fprintf(&b, "s%d <- %s\n", a.Stream, short(a.Offer))
		}
	}
	return b.String()
}

// changes returns the lines of the nodes that are not as they were.
func (s *state) changes() string {
	var b strings.Builder
	now := map[string]string{}
	for _, n := range s.group.Nodes() {
		line := describe(n)
		if now[n.ID()] = line; s.lines[n.ID()] != line {
			fmt.Fprintln(&b, line)
		}
	}
	for id := range s.lines {
		if now[id] == "" {
			fmt.Fprintf(&b, "%s: forgotten\n", id)
		}
	}
	s.lines = now
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func describe(n Node) string {
	names := [...]string{Pending: "pending", Synced: "synced", Rejected: "rejected", Incompatible: "incompatible", Drifted: "drifted", Disconnected: "disconnected"}
	line := fmt.Sprintf("%s: %s, runs %s, wanted %s", n.ID(), names[n.State], short(n.Running), short(n.Wanted))
	for _, r := range n.Causes {
		line += ": " + r.GetCode()
	}
	if n.Refused != nil {
		line += " of " + short(n.Refused)
	}
	if n.Retrying {
		line += ", retrying"
	}
	return line
}

func stream(t *testing.T, s string) Stream { return Stream(number(t, strings.TrimPrefix(s, "s"))) }

func number(t *testing.T, s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func generation(t *testing.T, s string) *discoveryv1.Generation {
	place, bundle, ok := strings.Cut(s, "/")
	if !ok {
		t.Fatalf("%q is no generation", s)
	}
	epoch, num, ok := strings.Cut(place, ".")
	if !ok {
		epoch, num = "1", place
	}
	digest := irv1.DigestOf(nil)
	copy(digest[:], bundle+"\x00")
	return &discoveryv1.Generation{Epoch: number(t, epoch), Number: number(t, num), Digest: digest[:]}
}

func short(g *discoveryv1.Generation) string {
	if g == nil {
		return "nothing"
	}
	bundle, _, _ := bytes.Cut(g.GetDigest(), []byte{0})
	if g.GetEpoch() != 1 {
		return fmt.Sprintf("%d.%d/%s", g.GetEpoch(), g.GetNumber(), bundle)
	}
	return fmt.Sprintf("%d/%s", g.GetNumber(), bundle)
}
