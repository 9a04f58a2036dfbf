package serve

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func TestPageLen(t *testing.T) {
	tests := []struct {
		name  string
		tools []*table.Tool
		want  int
	}{
		{"none", nil, 0},
		{"few", made(3, 10), 3},
		{"as many as a page has", made(pageEntries, 10), pageEntries},
		{"many", made(pageEntries+1, 10), pageEntries},
		{"large", made(5, pageBytes/2), 2},
		{"one that is larger than a page", made(2, pageBytes+1), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := pageLen(tt.tools); got != tt.want {
				t.Errorf("pageLen() = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestAfter(t *testing.T) {
	tools := []*table.Tool{{Name: "b"}, {Name: "d"}}
	for last, want := range map[string]string{"a": "b d", "b": "d", "c": "d", "d": "", "e": ""} {
		var names []string
		for _, tool := range after(tools, last) {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("after %q come %q, want %q", last, got, want)
		}
	}
}

// TestPages reads a long list page by page while the table is replaced by one
// without the tool that the first cursor names.
func TestPages(t *testing.T) {
	proof.Ran(t)
	book := manyTools(2500)
	s, url := serving(t, Config{}, book)
	session := connect(t, url+"/library", eras[0], nil)
	first, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	last := first.Tools[len(first.Tools)-1].Name
	book.Tools = slices.DeleteFunc(book.Tools, named(last))
	s.Swap(build(t, 2, s.Table(), book))

	names := []string{}
	for cursor := first.NextCursor; cursor != ""; {
		page, err := session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range page.Tools {
			names = append(names, tool.Name)
		}
		cursor = page.NextCursor
	}
	if len(first.Tools) != pageEntries || len(names) != 1500 || names[0] != "tool_1000" || !slices.IsSorted(names) {
		t.Errorf("%d tools, then %d from %s on", len(first.Tools), len(names), names[0])
	}
}

func TestUnknownCursor(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, manyTools(1))
	if _, body := post(t, url+"/library", eras[1], "tools/list", `{"cursor":"%"}`); !strings.Contains(body, `"code":-32602`) {
		t.Errorf("answer is %s", body)
	}
	end := base64.RawURLEncoding.EncodeToString([]byte("zzz"))
	if _, body := post(t, url+"/library", eras[1], "tools/list", `{"cursor":"`+end+`"}`); !strings.Contains(body, `"tools":[]`) {
		t.Errorf("answer is %s", body)
	}
}

func made(n, size int) []*table.Tool {
	var tools []*table.Tool
	for i := range n {
		tools = append(tools, &table.Tool{Name: fmt.Sprint(i), JSON: make([]byte, size)})
	}
	return tools
}

// manyTools returns a library whose n tools, tool_0000 and so on, all get a book.
func manyTools(n int) *irv1.Binding {
	b := librarytest.Binding("127.0.0.1:9")
	get := b.Tools[slices.IndexFunc(b.Tools, named("get_book"))]
	b.Tools = nil
	for i := range n {
		tool := proto.CloneOf(get)
		tool.Name = fmt.Sprintf("tool_%04d", i)
		b.Tools = append(b.Tools, tool)
	}
	return b
}

func named(name string) func(*irv1.Tool) bool {
	return func(t *irv1.Tool) bool { return t.GetName() == name }
}
