package demo

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/bindery-dev/bindery/cmd/internal/term"
)

// A teller prints the story.
type teller struct{ out *term.Screen }

func (t *teller) heading(format string, args ...any) {
	fmt.Fprintf(t.out, "\n%s\n", t.out.Paint(term.Bold, fmt.Sprintf(format, args...)))
}

func (t *teller) line(format string, args ...any) {
	fmt.Fprintln(t.out, strings.TrimRight("   "+fmt.Sprintf(format, args...), " "))
}

// shown are the headers that the story is about, in the order they are shown in.
var shown = []string{"Api-Version", "Idempotency-Key", "Request-Id", "Accept-Language", "X-Gateway", "Authorization"}

// call shows a tool call and the HTTP request that it became.
func (t *teller) call(tool, why string, r request) {
	t.line("")
	t.line("%s  %s", t.out.Paint(term.Bold, tool), why)
	t.line("  → %s %s  to the %s", r.method, r.path, r.from)
	t.headers(r.header)
}

func (t *teller) headers(h http.Header) {
	for _, name := range shown {
		if v := h.Get(name); v != "" {
			t.line("      %s %s", t.out.Paint(term.Dim, name+":"), v)
		}
	}
}

// answer shows what a call brought.
func (t *teller) answer(format string, args ...any) {
	t.line("  ← %s", fmt.Sprintf(format, args...))
}

// diff shows one changed line of a file.
func (t *teller) diff(file string, line int, from, to string) {
	t.line("%s", t.out.Paint(term.Dim, fmt.Sprintf("%s:%d", file, line)))
	t.line("%s", t.out.Paint(term.Red, "- "+strings.TrimSpace(from)))
	t.line("%s", t.out.Paint(term.Green, "+ "+strings.TrimSpace(to)))
}

func (d *demo) opening() {
	fmt.Fprintln(d.out, "Bindery turns REST APIs into MCP tools. Here an AI agent's MCP client buys from a shop that only speaks REST.")
	d.line("")
	d.line("sample shop              %s", d.shop.merchant.url)
	d.line("sample payment provider  %s", d.shop.psp.url)
	d.line("control plane            %s (gRPC, store in a temporary directory)", d.client.Addr())
	d.line("node                     %s (MCP), connected to the control plane", d.url("/"))
	d.line("bindings                 %s, a copy of examples/acp", d.dir)
}

// connecting says what a reader can do next.
func (d *demo) connecting() {
	d.heading("Try it yourself")
	d.line("MCP endpoints (Streamable HTTP, no login):")
	d.line("  %s           the five checkout tools", d.url("/mcp"))
	d.line("  %s  delegate_payment", d.url("/payments/mcp"))
	d.line("")
	d.line("Claude Code     claude mcp add --transport http shop %s", d.url("/mcp"))
	d.line("MCP Inspector   npx @modelcontextprotocol/inspector --cli %s --transport http --method tools/list", d.url("/mcp"))
	d.line(`Cursor and such {"mcpServers": {"shop": {"url": "%s"}}}`, d.url("/mcp"))
	d.line("Bindery itself  bindery tools %s", d.url("/mcp"))
	if d.cfg.Once {
		return
	}
	d.line("")
	d.line("Edit a file in %s, then:", d.dir)
	d.line("  bindery apply %s --control-plane %s --group %s \\\n     -t merchant_url=%s -t psp_url=%s",
		term.Word(d.dir), d.client.Addr(), group, d.shop.merchant.url, d.shop.psp.url)
	d.line("  bindery nodes --control-plane %s", d.client.Addr())
}
