package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/seal"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// maxState is how many bytes of a call a client is given to keep.
const maxState = 64 << 10

// ErrState says that a state is none that this call and caller were given, or one that
// came too late.
var ErrState = errors.New("requestState is not one of this call, or it has expired")

// ErrTooLarge says that a call has more to keep than a client is given.
var ErrTooLarge = errors.New("there is too much to seal of a call that asks its user")

// A Request is the client's, as far as a state is bound to it.
type Request struct {
	// What is what the client asked for, such as "tools/call get_book".
	What string
	// Arguments are those that the client sent, nil for none: it sends the same again.
	Arguments rawjson.Value
	// Header is that of the HTTP request, nil when it came otherwise.
	Header http.Header
}

// caller returns what is known of who makes r: where callers are authorized, who they
// are belongs here, too.
func (r Request) caller(s *table.State) string {
	if values := r.Header[s.Caller]; s.Caller != "" && len(values) == 1 {
		return values[0]
	}
	return ""
}

// kept is what a client keeps.
type kept struct {
	Tool      string                     `json:"t"`
	Ask       string                     `json:"q"`
	Sum       []byte                     `json:"s"`           // of the client's arguments
	Arguments json.RawMessage            `json:"a,omitempty"` // of the call that asked; nil: the client's
	Taken     map[string]json.RawMessage `json:"r,omitempty"`
	Generated map[string]string          `json:"g,omitempty"`
	Fork      []byte                     `json:"f,omitempty"`
	Round     int                        `json:"n,omitempty"`
}

// Seal returns t sealed for r, to which it is the answer: text that says nothing. The
// error is [ErrTooLarge] or that of looking up the secret.
func (t *Turn) Seal(r Request, now time.Time) (string, error) {
	sum, err := sumOf(r.Arguments)
	if err != nil {
		return "", err
	}
	k := kept{Tool: t.Tool.Name, Ask: t.Ask.GetName(), Sum: sum, Taken: map[string]json.RawMessage{}, Generated: t.Generated, Fork: t.Fork, Round: t.Round}
	if !bytes.Equal(t.Arguments, orNone(r.Arguments)) {
		k.Arguments = json.RawMessage(t.Arguments)
	}
	for name, value := range t.Taken {
		k.Taken[name] = json.RawMessage(value)
	}
	data, err := marshal(k)
	if err != nil {
		return "", err
	}
	if len(data) > maxState {
		return "", ErrTooLarge
	}
	s := t.Tool.State
	return s.Box.Seal(data, now.Add(s.Lifetime), t.Tool.Binding, r.What, r.caller(s))
}

// marshal is [json.Marshal] that leaves the characters of texts as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// Open returns the turn that text has sealed for a call of tool that came as r. The
// error is [ErrState], or that of looking up a secret.
func Open(tool *table.Tool, text string, r Request, now time.Time) (*Turn, error) {
	s := tool.State
	if s == nil {
		return nil, ErrState
	}
	data, err := s.Box.Open(text, now, tool.Binding, r.What, r.caller(s))
	if errors.Is(err, seal.ErrSealed) {
		return nil, ErrState
	}
	if err != nil {
		return nil, err
	}
	var k kept
	if json.Unmarshal(data, &k) != nil {
		return nil, ErrState
	}
	sum, err := sumOf(r.Arguments)
	if err != nil || !bytes.Equal(sum, k.Sum) {
		return nil, ErrState
	}
	return k.turn(tool, r)
}

// turn returns what k has kept, by the table of now.
func (k kept) turn(tool *table.Tool, r Request) (*Turn, error) {
	asker := tool.Sibling(k.Tool)
	if asker == nil || asker.Asks.Named(k.Ask) == nil {
		return nil, ErrState // the binding has changed
	}
	t := &Turn{Tool: asker, Ask: asker.Asks.Named(k.Ask), Arguments: orNone(r.Arguments), Taken: map[string]rawjson.Value{}, Generated: k.Generated, Fork: k.Fork, Round: k.Round + 1}
	if k.Arguments != nil {
		t.Arguments = rawjson.Value(k.Arguments)
	}
	for name, value := range k.Taken {
		t.Taken[name] = rawjson.Value(value)
	}
	return t, nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
