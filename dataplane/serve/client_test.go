package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TestClient is what the SDK's client sees of a library, in both eras.
func TestClient(t *testing.T) {
	proof.Ran(t)
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	s, url := serving(t, Config{Version: "v1"}, book)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			session := connect(t, url+"/library", era, nil)
			t.Run("tools", func(t *testing.T) { testTools(t, session) })
			t.Run("call", func(t *testing.T) { testCall(t, session, s.Table().Digest()) })
			t.Run("upstream's error", func(t *testing.T) {
				testError(t, session, "get_book", map[string]any{"id": "missing"}, jsonrpc.Error{
					Code: -32000, Message: "There is no such book.", Data: json.RawMessage(`{"code":"no_book","message":"There is no such book."}`),
				})
			})
			t.Run("missing argument", func(t *testing.T) {
				testError(t, session, "get_book", map[string]any{}, jsonrpc.Error{Code: -32602})
			})
			t.Run("bad payload", func(t *testing.T) {
				testError(t, session, "add_book", map[string]any{"payload": map[string]any{"title": 7}}, jsonrpc.Error{Code: -32000})
			})
			t.Run("unknown tool", func(t *testing.T) {
				testError(t, session, "burn_book", nil, jsonrpc.Error{Code: -32602, Message: `unknown tool "burn_book"`})
			})
		})
	}
}

func testTools(t *testing.T, session *mcp.ClientSession) {
	if c := session.InitializeResult().Capabilities; c.Tools == nil || !c.Tools.ListChanged || c.Resources == nil || !c.Resources.ListChanged || c.Prompts == nil || !c.Prompts.ListChanged {
		t.Errorf("capabilities are %+v", c)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, []string{"add_book", "get_book"}) {
		t.Errorf("tools are %q", names)
	}
	if schema, ok := list.Tools[0].InputSchema.(map[string]any); !ok || schema["type"] != "object" {
		t.Errorf("input schema is %v", list.Tools[0].InputSchema)
	}
}

func testCall(t *testing.T, session *mcp.ClientSession, digest irv1.Digest) {
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"id": "a/b"}})
	if err != nil {
		t.Fatal(err)
	}
	structured, ok := res.StructuredContent.(map[string]any)
	if !ok || structured["id"] != "a/b" || res.IsError {
		t.Errorf("result is %+v", res)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if want := `{"title":"Go & more", "id":"a/b", "price":10.50, "big":9007199254740993}`; text != want {
		t.Errorf("text is %s, want %s", text, want)
	}
	if res.Meta[metaRevision] != 1.0 || res.Meta[metaDigest] != digest.String() {
		t.Errorf("_meta is %v", res.Meta)
	}
}

func testError(t *testing.T, session *mcp.ClientSession, tool string, args any, want jsonrpc.Error) {
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	var got *jsonrpc.Error
	if !errors.As(err, &got) {
		t.Fatalf("error is %v", err)
	}
	if got.Code != want.Code || want.Message != "" && got.Message != want.Message || want.Data != nil && string(got.Data) != string(want.Data) {
		t.Errorf("error is %d %q %s, want %d %q %s", got.Code, got.Message, got.Data, want.Code, want.Message, want.Data)
	}
}

// TestWire reads what goes over the wire: a client library would hide a result
// whose members moved or whose numbers were rounded.
func TestWire(t *testing.T) {
	proof.Ran(t)
	for _, noFastPath := range []bool{false, true} {
		t.Run(fmt.Sprintf("no fast path %t", noFastPath), func(t *testing.T) { checkWire(t, Config{Version: "v1", NoFastPath: noFastPath}) })
	}
}

func checkWire(t *testing.T, cfg Config) {
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	s, url := serving(t, cfg, book)
	const body = `"title":"Go & more","id":"1","price":10.50,"big":9007199254740993`
	const content = `"content":[{"type":"text","text":"{\"title\":\"Go`
	digest := `"bindery.dev/digest":"` + s.Table().Digest().String() + `","bindery.dev/revision":1`

	status, modernAnswer := post(t, url+"/library", eras[0], "tools/call", `{"name":"get_book","arguments":{"id":"1"}}`)
	modernAnswer = compact(t, modernAnswer)
	for _, part := range []string{`{` + body + `,` + content, `"structuredContent":{` + body + `}`, `"resultType":"complete"`, digest, `"io.modelcontextprotocol/serverInfo":{"name":"bindery"`} {
		if status != 200 || !strings.Contains(modernAnswer, part) {
			t.Errorf("%d %s\nis without %s", status, modernAnswer, part)
		}
	}
	_, legacyAnswer := post(t, url+"/library", eras[1], "tools/call", `{"name":"get_book","arguments":{"id":"1"}}`)
	legacyAnswer = compact(t, legacyAnswer)
	for _, part := range []string{`{` + body + `,` + content, `"_meta":{` + digest + `}}`} {
		if !strings.Contains(legacyAnswer, part) {
			t.Errorf("%s\nis without %s", legacyAnswer, part)
		}
	}
	if strings.Contains(legacyAnswer, "resultType") {
		t.Errorf("%s\nhas a member of a later revision", legacyAnswer)
	}

	status, list := post(t, url+"/library", eras[0], "tools/list", `{}`)
	for _, part := range []string{`"resultType":"complete"`, `"ttlMs":0`, `"cacheScope":"public"`, digest} {
		if status != 200 || !strings.Contains(list, part) {
			t.Errorf("%d %s\nis without %s", status, list, part)
		}
	}
	if status, answer := post(t, url+"/library", eras[0], "tools/call", `{"name":"burn_book"}`); status != 400 || !strings.Contains(answer, `"code":-32602`) {
		t.Errorf("unknown tool: %d %s", status, answer)
	}
}

// compact takes the space between tokens out of an answer.
func compact(t *testing.T, answer string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(answer)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestStyleTool has errors that are results: the call succeeds, and a model reads
// what went wrong.
func TestStyleTool(t *testing.T) {
	proof.Ran(t)
	book := librarytest.Binding(upstream(t, librarytest.Upstream()))
	book.Errors.Style = irv1.ErrorStyle_ERROR_STYLE_TOOL
	_, url := serving(t, Config{}, book)
	for _, era := range eras {
		session := connect(t, url+"/library", era, nil)
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_book", Arguments: map[string]any{"id": "missing"}})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"code": "no_book", "message": "There is no such book."}
		if got, _ := res.StructuredContent.(map[string]any); !res.IsError || !maps.Equal(got, want) || res.Meta[metaRevision] != 1.0 {
			t.Errorf("%s: result is %+v", era, res)
		}
	}
}
