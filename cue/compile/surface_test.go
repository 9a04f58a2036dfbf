package compile_test

import (
	"bytes"
	"fmt"
	"slices"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// renderSurface writes what clients get to know of tools beside what MCP has always
// had words for.
func renderSurface(b *bytes.Buffer, content *irv1.Content) {
	for _, binding := range content.Bindings {
		fmt.Fprintf(b, "binding %s\n", binding.GetName())
		renderIcons(b, "\t", binding.GetIcons())
		for _, t := range binding.GetTools() {
			fmt.Fprintf(b, "\ttool %s\n", t.GetName())
			renderIcons(b, "\t\t", t.GetIcons())
			for _, s := range t.GetSecuritySchemes() {
				if o := s.GetOauth2(); o != nil {
					fmt.Fprintf(b, "\t\toauth2 %q\n", o.GetScopes())
				} else {
					b.WriteString("\t\tnoauth\n")
				}
			}
			for _, m := range t.GetEntryMeta() {
				fmt.Fprintf(b, "\t\t_meta %s %s\n", m.GetName(), m.GetJson())
			}
		}
	}
}

func renderIcons(b *bytes.Buffer, indent string, icons []*irv1.Icon) {
	for _, i := range icons {
		fmt.Fprintf(b, "%sicon %s %q %q %s\n", indent, i.GetSrc(), i.GetMediaType(), i.GetSizes(), i.GetTheme())
	}
}

// renderContent writes what results have of a body.
func renderContent(b *bytes.Buffer, content *irv1.Content) {
	for _, binding := range content.Bindings {
		for _, t := range binding.GetTools() {
			fmt.Fprintf(b, "tool %s, at most %d bytes\n", t.GetName(), t.GetMaxResultBytes())
			for _, p := range t.GetContent() {
				fmt.Fprintf(b, "\t%s\n", p.GetKind())
				for _, m := range slices.Concat(p.GetMembers(), p.GetAnnotations()) {
					fmt.Fprintf(b, "\t\t%s %s%q\n", m.GetField(), m.GetJson(), m.GetBody().GetTokens())
				}
			}
			for _, m := range t.GetResultMeta() {
				fmt.Fprintf(b, "\t_meta %s <- %s%q\n", m.GetKey(), m.GetHeader(), m.GetBody().GetTokens())
			}
			for _, p := range t.GetMoved() {
				fmt.Fprintf(b, "\tmoved %q\n", p.GetTokens())
			}
		}
	}
}

// renderHints writes what bindings make of what clients say beside the arguments.
func renderHints(b *bytes.Buffer, content *irv1.Content) {
	for _, binding := range content.Bindings {
		l := binding.GetLocales()
		fmt.Fprintf(b, "binding %s, locales %q or %q\n", binding.GetName(), l.GetSupported(), l.GetFallback())
		for _, m := range binding.GetMeta() {
			fmt.Fprintf(b, "\tmeta %s -> %s, hidden=%t\n", m.GetField(), m.GetHeader(), m.GetHidden())
			for _, s := range m.GetSources() {
				switch k := s.GetKind().(type) {
				case *irv1.MetaSource_RequestMeta:
					fmt.Fprintf(b, "\t\t_meta %s %q\n", k.RequestMeta.GetKey(), k.RequestMeta.GetAt().GetTokens())
				case *irv1.MetaSource_Header:
					fmt.Fprintf(b, "\t\theader %s\n", k.Header)
				case *irv1.MetaSource_Locale:
					b.WriteString("\t\tlocale\n")
				}
			}
		}
	}
}
