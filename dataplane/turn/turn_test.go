package turn

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/seal"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var noon = time.Unix(1_700_000_000, 0)

// lend is a tool whose ask goes on with itself, or, where next is "read", with another
// that has fewer arguments.
func lend(next string, arguments ...*irv1.AskArgument) *table.Tool {
	state := &table.State{Box: seal.New(func(string) (string, error) { return "s", nil }, "s"), Lifetime: time.Minute, Caller: "X-Caller"}
	arg := func(name string) *table.Argument { return &table.Argument{Argument: &irv1.Argument{Name: name}} }
	tool := &table.Tool{Name: "lend", Binding: "library", State: state, Args: []*table.Argument{arg("book"), arg("days"), arg("ticket")}}
	read := &table.Tool{Name: "read", Binding: "library", State: state, Args: []*table.Argument{arg("book")}}
	ask := &table.Ask{Ask: &irv1.Ask{Name: "own", Question: &irv1.Ask_Requests{Requests: &irv1.Pointer{}}, Arguments: arguments}, Next: tool}
	if next == "read" {
		ask.Next = read
	}
	tool.Asks.All = []*table.Ask{ask}
	return tool
}

func from(name string, side irv1.AskSide, at ...string) *irv1.AskArgument {
	return &irv1.AskArgument{Name: name, Side: side, At: &irv1.Pointer{Tokens: at}}
}

// TestNext goes on with answers: the arguments are those of the call that asked, with
// others put over them.
func TestNext(t *testing.T) {
	const asked, body = `{"book":"Emma", "days":1}`, `{"ticket":{"n":1.0}}`
	for _, tt := range []struct {
		name, next string
		arguments  []*irv1.AskArgument
		answers    string
		want       string
		same       bool
	}{
		{name: "the same call", want: asked, same: true},
		{name: "from the answers", arguments: []*irv1.AskArgument{from("days", irv1.AskSide_ASK_SIDE_ANSWERS, "a", "content", "days")},
			answers: `{"a":{"content":{"days":7}}}`, want: `{"book":"Emma","days":7}`},
		{name: "from the response", arguments: []*irv1.AskArgument{from("ticket", irv1.AskSide_ASK_SIDE_RESPONSE, "ticket")}, want: `{"book":"Emma","days":1,"ticket":{"n":1.0}}`},
		{name: "from the request", arguments: []*irv1.AskArgument{from("ticket", irv1.AskSide_ASK_SIDE_REQUEST, "book")}, want: `{"book":"Emma","days":1,"ticket":"Emma"}`},
		{name: "nothing there", arguments: []*irv1.AskArgument{from("days", irv1.AskSide_ASK_SIDE_ANSWERS, "b")}, answers: `{"a":{}}`, want: asked, same: true},
		{name: "said in other words", arguments: []*irv1.AskArgument{from("days", irv1.AskSide_ASK_SIDE_ANSWERS, "a", "days")}, answers: `{"a":{"days":10e-1}}`,
			want: `{"book":"Emma","days":10e-1}`, same: true},
		{name: "another tool", next: "read", want: `{"book":"Emma"}`},
	} {
		tool := lend(tt.next, tt.arguments...)
		turn := New(tool, call.Request{Arguments: []byte(asked)}, &call.Question{Ask: tool.Asks.All[0], Body: rawjson.Value(body)}, 0)
		next, r, err := turn.Next(nil)
		if tt.answers != "" {
			next, r, err = turn.Next([]byte(tt.answers))
		}
		if err != nil || string(r.Arguments) != tt.want || (r.Fork == nil) != tt.same || next != tool.Asks.All[0].Next {
			t.Errorf("%s: %s of %s, fork %x, %v; want %s", tt.name, r.Arguments, next.Name, r.Fork, err, tt.want)
		}
	}
}

// TestState seals what is known of a call, and opens it for the same only.
func TestState(t *testing.T) {
	tool := lend("", from("ticket", irv1.AskSide_ASK_SIDE_RESPONSE, "ticket"))
	client := Request{What: "tools/call lend", Arguments: rawjson.Value(`{"book":"Emma","days":1}`), Header: http.Header{"X-Caller": {"a"}}}
	q := &call.Question{Ask: tool.Asks.All[0], Body: rawjson.Value(`{"ticket":"<t>"}`), Generated: map[string]string{"key": "k"}}
	for _, arguments := range []string{string(client.Arguments), `{"book":"another"}`} {
		text, err := New(tool, call.Request{Arguments: []byte(arguments), Fork: []byte{1}}, q, 3).Seal(client, noon)
		if err != nil || strings.Contains(text, "Emma") {
			t.Fatalf("%s, %v", text, err)
		}
		got, err := Open(tool, text, Request{What: client.What, Arguments: rawjson.Value(`{ "days":1, "book":"Emma" }`), Header: client.Header}, noon)
		if err != nil {
			t.Fatal(err)
		}
		if got.Round != 4 || got.Generated["key"] != "k" || string(got.Fork) != "\x01" || string(got.Taken["ticket"]) != `"<t>"` || got.Tool != tool || got.Ask != tool.Asks.All[0] {
			t.Errorf("the turn is %+v", got)
		}
		if arguments != string(client.Arguments) && string(got.Arguments) != arguments {
			t.Errorf("arguments are %s", got.Arguments)
		}
		for name, other := range map[string]Request{
			"asked for otherwise": {What: "prompts/get lend", Arguments: client.Arguments, Header: client.Header},
			"other arguments":     {What: client.What, Arguments: rawjson.Value(`{"book":"Emma","days":2}`), Header: client.Header},
			"no arguments":        {What: client.What, Header: client.Header},
			"another caller":      {What: client.What, Arguments: client.Arguments, Header: http.Header{"X-Caller": {"b"}}},
			"nobody":              {What: client.What, Arguments: client.Arguments},
		} {
			if _, err := Open(tool, text, other, noon); err != ErrState {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := Open(tool, text, client, noon.Add(time.Minute)); err != ErrState {
			t.Errorf("too late: %v", err)
		}
	}
	big := New(tool, call.Request{Arguments: []byte(`{"book":"` + strings.Repeat("x", maxState) + `"}`)}, q, 0)
	if _, err := big.Seal(client, noon); err != ErrTooLarge {
		t.Errorf("too much: %v", err)
	}
}

// FuzzOver holds that what is put over an object is in it, that the rest is as it was,
// byte for byte, and that it is one object.
func FuzzOver(f *testing.F) {
	f.Add(`{"a":1.0,"b":{"c":[]}}`, "a", `{"x":"<&>"}`)
	f.Add(`{}`, "", `null`)
	f.Add(`{"\u0061":1}`, "a", `2`)
	f.Fuzz(func(t *testing.T, object, name, value string) {
		o, err := rawjson.Parse([]byte(object), call.MaxDepth)
		v, err2 := rawjson.Parse([]byte(value), call.MaxDepth)
		if err != nil || err2 != nil || o.Kind() != rawjson.Object || strings.ToValidUTF8(name, "") != name {
			return
		}
		got, err := rawjson.Parse(over(o, map[string]rawjson.Value{name: v}), call.MaxDepth+1)
		if err != nil {
			t.Fatalf("%s over %s of %s is %s: %v", value, name, object, got, err)
		}
		if !bytes.Equal(got.Member(name), v) {
			t.Errorf("%s is %s", name, got.Member(name))
		}
		for key, old := range o.Members() {
			if text, _ := key.Text(); text != name && !bytes.Equal(got.Member(text), old) {
				t.Errorf("%s was %s and is %s", text, old, got.Member(text))
			}
		}
	})
}
