package result

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestSuccess(t *testing.T) {
	const dual, plain = irv1.ResultMode_RESULT_MODE_DUAL, irv1.ResultMode_RESULT_MODE_MCP
	tests := []struct {
		name string
		mode irv1.ResultMode
		body string
		want string
	}{
		{"order and spelling stay", dual, `{"z":1.50,"a":1e2}`,
			`"z":1.50,"a":1e2,"content":[{"type":"text","text":"{\"z\":1.50,\"a\":1e2}"}],"structuredContent":{"z":1.50,"a":1e2}`},
		{"escapes and space stay", dual, `{ "a\u0062" : "\/" }`,
			`"a\u0062" : "\/","content":[{"type":"text","text":"{ \"a\\u0062\" : \"\\/\" }"}],"structuredContent":{ "a\u0062" : "\/" }`},
		{"no member", dual, `{}`, `"content":[{"type":"text","text":"{}"}],"structuredContent":{}`},
		{"object", plain, `{"a":1}`, `"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}`},
		{"array", plain, `[1,2]`, `"content":[{"type":"text","text":"[1,2]"}],"structuredContent":{"value":[1,2]}`},
		{"scalar", plain, `null`, `"content":[{"type":"text","text":"null"}],"structuredContent":{"value":null}`},
		{"raw", irv1.ResultMode_RESULT_MODE_RAW, `{ "content" : 1.0, "_meta":{} }`, `"content" : 1.0, "_meta":{}`},
		{"raw without members", irv1.ResultMode_RESULT_MODE_RAW, `{ }`, ``},
		{"raw without body", irv1.ResultMode_RESULT_MODE_RAW, ``, ``},
		{"nothing", dual, ``, `"content":[]`},
		{"nothing either", plain, ``, `"content":[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(appendBody(nil, tt.mode, parse(t, tt.body), newest))
			if got != tt.want {
				t.Errorf("appendBody(, newest) =\n%s\nwant\n%s", got, tt.want)
			}
			if !json.Valid([]byte("{" + got + "}")) {
				t.Error("not the members of an object")
			}
		})
	}
}

func TestPart(t *testing.T) {
	tests := []struct {
		name string
		part call.Part
		want string
	}{
		{"image", call.Part{Kind: irv1.PartKind_PART_KIND_IMAGE, MediaType: "image/png", Data: []byte("\x00\xff")}, `"content":[{"type":"image","data":"AP8=","mimeType":"image/png"}]`},
		{"audio", call.Part{Kind: irv1.PartKind_PART_KIND_AUDIO, MediaType: "audio/mpeg", Data: []byte("a")}, `"content":[{"type":"audio","data":"YQ==","mimeType":"audio/mpeg"}]`},
		{"text", call.Part{Kind: irv1.PartKind_PART_KIND_TEXT, MediaType: "text/plain", Data: []byte("a\n\"b\"")}, `"content":[{"type":"text","text":"a\n\"b\""}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(appendPart(nil, &tt.part, newest)); got != tt.want {
				t.Errorf("appendPart() =\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestFailure(t *testing.T) {
	tests := []struct {
		name string
		err  call.Error
		want string
	}{
		{"message", call.Error{Message: `no "book"`}, `"content":[{"type":"text","text":"no \"book\""}],"isError":true`},
		{"data", call.Error{Message: "no book", Data: []byte(`{"code":"x"}`)},
			`"content":[{"type":"text","text":"{\"code\":\"x\"}"}],"isError":true,"structuredContent":{"code":"x"}`},
		{"words of its own", call.Error{Message: "Wait.", Data: []byte(`{"code":"x"}`), Own: true},
			`"content":[{"type":"text","text":"{\"code\":\"x\"}"},{"type":"text","text":"Wait."}],"isError":true,"structuredContent":{"code":"x"}`},
		{"data that is no object", call.Error{Message: "no book", Data: []byte(`"x"`)}, `"content":[{"type":"text","text":"\"x\""}],"isError":true`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(appendFailure(nil, &table.Tool{}, &tt.err, newest)); got != tt.want {
				t.Errorf("appendFailure(, newest) =\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	tool := &table.Tool{Result: irv1.ResultMode_RESULT_MODE_DUAL}
	jsonrpc := &call.Error{Code: 7, Message: "m", Style: irv1.ErrorStyle_ERROR_STYLE_JSONRPC}
	asTool := &call.Error{Code: 7, Message: "m", Style: irv1.ErrorStyle_ERROR_STYLE_TOOL}
	tests := []struct {
		name    string
		outcome call.Outcome
		members []byte
		refusal *call.Error
	}{
		{"result", call.Outcome{Rest: []byte(`{"a":1}`)}, appendBody(nil, tool.Result, parse(t, `{"a":1}`), newest), nil},
		{"error result", call.Outcome{Error: asTool}, appendFailure(nil, tool, asTool, newest), nil},
		{"error", call.Outcome{Error: jsonrpc}, nil, jsonrpc},
	}
	for _, tt := range tests {
		if members, refusal := Of(tool, tt.outcome, newest); string(members) != string(tt.members) || refusal != tt.refusal {
			t.Errorf("%s: Of() = %s, %v; want %s, %v", tt.name, members, refusal, tt.members, tt.refusal)
		}
	}
}

// TestFailureOfShownOutput has clients that hold structured content to a schema.
func TestFailureOfShownOutput(t *testing.T) {
	const want = `"content":[{"type":"text","text":"{\"code\":\"x\"}"}],"isError":true`
	err := call.Error{Message: "no book", Data: []byte(`{"code":"x"}`)}
	if got := string(appendFailure(nil, &table.Tool{Shown: true}, &err, newest)); got != want {
		t.Errorf("result is\n%s\nwant\n%s", got, want)
	}
}

// FuzzSuccess states the law of results: whatever body an upstream sends, the
// result is one valid object in which no name stands twice.
func FuzzSuccess(f *testing.F) {
	for _, body := range []string{`{ "a":1, "b":2 }`, `{ }`, `{"content":2}`, `[]`, `"x"`, `1`, `{"a":{"a":"\"\\"}}`} {
		f.Add(body, true)
		f.Add(body, false)
	}
	f.Fuzz(func(t *testing.T, body string, dual bool) {
		v, err := rawjson.Parse([]byte(body), 64)
		if err != nil {
			return // call.Do lets no such body through
		}
		mode := irv1.ResultMode_RESULT_MODE_MCP
		switch {
		case dual && canBeDual(v):
			mode = irv1.ResultMode_RESULT_MODE_DUAL
		case dual && v.Kind() == rawjson.Object:
			mode = irv1.ResultMode_RESULT_MODE_RAW
		}
		result := append(append([]byte{'{'}, appendBody(nil, mode, v, newest)...), '}')
		parsed, err := rawjson.Parse(result, 66)
		if err != nil {
			t.Fatalf("result of %q is %q: %v", body, result, err)
		}
		if mode == irv1.ResultMode_RESULT_MODE_RAW {
			if !reflect.DeepEqual(parsed.Decode(), v.Decode()) {
				t.Errorf("raw result of %q is %q", body, result)
			}
			return
		}
		for e := range parsed.Member("content").Elements() {
			if text, _ := e.Member("text").Text(); text != string(v) {
				t.Errorf("text is %q, want %q", text, v)
			}
		}
	})
}

// canBeDual reports whether call.Do lets body through as a dual result.
func canBeDual(body rawjson.Value) bool {
	for _, name := range call.Reserved() {
		if body.Member(name) != nil {
			return false
		}
	}
	return body.Kind() == rawjson.Object
}

func parse(t *testing.T, body string) rawjson.Value {
	t.Helper()
	if body == "" {
		return nil
	}
	v, err := rawjson.Parse([]byte(body), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// newest is the form of results for clients of the newest revision.
var newest = Newest()

// TestOlder has clients that do not know structured content: the members of a dual
// result are for them, too.
func TestOlder(t *testing.T) {
	const content = `"content":[{"type":"text","text":"{\"a\":1}"}]`
	body, failure := rawjson.Value(`{"a":1}`), &call.Error{Data: []byte(`{"a":1}`), Style: irv1.ErrorStyle_ERROR_STYLE_TOOL}
	tests := []struct {
		name string
		mode irv1.ResultMode
		o    call.Outcome
		want string
	}{
		{"dual", irv1.ResultMode_RESULT_MODE_DUAL, call.Outcome{Body: body, Rest: body}, `"a":1,` + content},
		{"plain", irv1.ResultMode_RESULT_MODE_MCP, call.Outcome{Body: body, Rest: body}, content},
		{"raw", irv1.ResultMode_RESULT_MODE_RAW, call.Outcome{Body: body, Rest: body}, `"a":1`},
		{"error", irv1.ResultMode_RESULT_MODE_DUAL, call.Outcome{Error: failure}, content + `,"isError":true`},
	}
	for _, tt := range tests {
		if got, refusal := Of(&table.Tool{Result: tt.mode}, tt.o, Form{}); string(got) != tt.want || refusal != nil {
			t.Errorf("%s: Of() = %s, %v; want %s", tt.name, got, refusal, tt.want)
		}
	}
}
