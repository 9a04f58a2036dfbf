package compile_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// renderResources writes what there is to read, and how long lists may be kept.
func renderResources(b *bytes.Buffer, content *irv1.Content) {
	for _, binding := range content.Bindings {
		fmt.Fprintf(b, "binding %s\n", binding.GetName())
		for _, r := range binding.GetResources() {
			fmt.Fprintf(b, "\tresource %s %q %q %s\n", r.GetName(), r.GetTitle(), r.GetDescription(), r.GetUri())
			renderDescribed(b, r)
			if r.Size != nil {
				fmt.Fprintf(b, "\t\tsize %d\n", r.GetSize())
			}
			if f := r.GetFile(); f != nil {
				fmt.Fprintf(b, "\t\tbinary=%t %q\n", f.GetBinary(), content.Files[irv1.Digest(f.GetSha256())])
			} else {
				fmt.Fprintf(b, "\t\tfrom %s\n", use(r.GetUse()))
			}
		}
		for _, t := range binding.GetTemplates() {
			fmt.Fprintf(b, "\ttemplate %s %q %q %s\n", t.GetName(), t.GetTitle(), t.GetDescription(), text(t.GetUri()))
			renderDescribed(b, t)
			if f := t.GetText(); f != nil {
				fmt.Fprintf(b, "\t\tjson=%t %s\n", f.GetJson(), text(f.GetText()))
			} else {
				fmt.Fprintf(b, "\t\tfrom %s\n", use(t.GetUse()))
			}
			for _, c := range t.GetCompletions() {
				fmt.Fprintf(b, "\t\t%s:%s\n", c.GetVariable(), completion(c.GetCompletion()))
			}
		}
		c := binding.GetCaching()
		for i, cache := range []*irv1.Cache{c.GetTools(), c.GetResources(), c.GetTemplates(), c.GetPrompts(), c.GetDiscover()} {
			renderCache(b, "\t"+[]string{"tools", "resources", "templates", "prompts", "discover"}[i]+" ", cache)
		}
	}
}

func renderDescribed(b *bytes.Buffer, r interface {
	GetMediaType() string
	GetAnnotations() *irv1.ContentAnnotations
	GetEntryMeta() []*irv1.Member
	GetCache() *irv1.Cache
	GetIcons() []*irv1.Icon
}) {
	if r.GetMediaType() != "" {
		fmt.Fprintf(b, "\t\t%s\n", r.GetMediaType())
	}
	if a := r.GetAnnotations(); a != nil {
		fmt.Fprintf(b, "\t\tfor %v", a.GetAudience())
		if a.Priority != nil {
			fmt.Fprintf(b, " priority %v", a.GetPriority())
		}
		fmt.Fprintf(b, " %s\n", a.GetLastModified())
	}
	for _, m := range r.GetEntryMeta() {
		fmt.Fprintf(b, "\t\t_meta %s %s\n", m.GetName(), m.GetJson())
	}
	renderCache(b, "\t\tcache ", r.GetCache())
	renderIcons(b, "\t\t", r.GetIcons())
}

func renderCache(b *bytes.Buffer, what string, c *irv1.Cache) {
	if c == nil {
		return
	}
	b.WriteString(what)
	if c.Ttl != nil {
		fmt.Fprintf(b, "%s ", c.GetTtl().AsDuration())
	}
	if c.Scope != nil {
		fmt.Fprintf(b, "%s", c.GetScope())
	}
	b.WriteByte('\n')
}

// TestContents holds what is said of files that cannot be in an archive: one that is no
// text, and those that are as large as they can be and larger.
func TestContents(t *testing.T) {
	tests := []struct {
		name, field, want string
		data              []byte
	}{
		{"a picture", `file: "files/a.png"`, "", []byte{0x89, 'P', 0xff, 0}},
		{"no UTF-8", `file: "files/a.txt"`, "a text must be UTF-8", []byte("\xff")},
		{"no UTF-8, and no text", `file: "files/a.txt", mimeType: "application/octet-stream"`, "", []byte("\xff")},
		{"large", `file: "files/a.txt"`, "", bytes.Repeat([]byte("a"), irv1.MaxBlob)},
		{"too large", `file: "files/a.txt"`, "it has 1048577 bytes, more than the 1048576 that fit one message", bytes.Repeat([]byte("a"), irv1.MaxBlob+1)},
		{"a text that is too large", `text: "` + strings.Repeat("a", irv1.MaxBlob+1) + `"`, "it has 1048577 bytes", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := `package bindings
import "bindery.dev/bind"
bindings: library: bind.#Binding & {
	upstream: url: "https://api.library.example"
	resources: a: {uri: "library:a", ` + tt.field + `}
}`
			compiled, err := compile.Module(t.Context(), &sourcev1.Sources{Files: []*sourcev1.File{
				{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
				{Path: "files/a.png", Data: tt.data}, {Path: "files/a.txt", Data: tt.data}, {Path: "library.cue", Data: []byte(source)},
			}})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := diag.Print(&b, compiled.GetDiagnostics()); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("diagnostics are %q, want %q", got, tt.want)
			}
			if tt.want == "" {
				r := open(t, compiled).Bindings[0].GetResources()[0]
				if content := open(t, compiled).Files[irv1.Digest(r.GetFile().GetSha256())]; !bytes.Equal(content, tt.data) {
					t.Errorf("content is %.40q", content)
				}
			}
		})
	}
}
