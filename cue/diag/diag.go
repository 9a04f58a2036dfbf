// Package diag collects the problems found in a module's sources, and prints
// them.
//
// Every phase of the compiler reports to a [List] instead of stopping at the
// first problem, so that one run shows an author everything there is to fix. A
// phase adds to the list and never removes from it.
//
// diag knows nothing about bindings: it is what the compiler, the formatter and
// the command line share.
package diag

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A Problem is what a diagnostic says beside its message.
type Problem struct {
	Pos  *sourcev1.Position // nil: no place is known
	Code string             // the broken rule, such as "unbound-parameter"
	Path string             // where in the module's value; "" when it is no value's
	Hint string             // what to do about it; may be ""
}

// A List collects diagnostics. The zero List is empty. It is not safe for
// concurrent use.
type List struct {
	all []*sourcev1.Diagnostic
}

// Errorf adds an error: the module does not compile.
func (l *List) Errorf(p Problem, format string, args ...any) {
	l.add(sourcev1.Severity_SEVERITY_ERROR, p, format, args)
}

// Warnf adds a warning: the module compiles, and does something its author may
// not expect.
func (l *List) Warnf(p Problem, format string, args ...any) {
	l.add(sourcev1.Severity_SEVERITY_WARNING, p, format, args)
}

func (l *List) add(s sourcev1.Severity, p Problem, format string, args []any) {
	l.all = append(l.all, &sourcev1.Diagnostic{
		Position: p.Pos,
		Severity: s,
		Code:     p.Code,
		Path:     p.Path,
		Message:  oneLine(fmt.Sprintf(format, args...)),
		Hint:     p.Hint,
	})
}

// Append adds what other holds.
func (l *List) Append(other *List) { l.all = append(l.all, other.all...) }

// Each calls f with every diagnostic, which f may reword.
func (l *List) Each(f func(*sourcev1.Diagnostic)) {
	for _, d := range l.all {
		f(d)
	}
}

// Has reports whether the list has an error at a known place. A warning does not keep
// a module from compiling, so nothing may be left unsaid because of one.
func (l *List) Has(p *sourcev1.Position) bool {
	return p.GetLine() > 0 && slices.ContainsFunc(l.all, func(d *sourcev1.Diagnostic) bool {
		return d.GetSeverity() == sourcev1.Severity_SEVERITY_ERROR && comparePlaces(d.GetPosition(), p) == 0
	})
}

// Failed reports whether the list holds an error.
func (l *List) Failed() bool { return Failed(l.all) }

// Sorted returns the diagnostics by place, each once: two with the same place,
// code and message are the same problem reached in two ways, and the one with the
// least path stays. The result is nil when there is none.
func (l *List) Sorted() []*sourcev1.Diagnostic {
	sorted := slices.SortedStableFunc(slices.Values(l.all), compare)
	return slices.CompactFunc(sorted, func(a, b *sourcev1.Diagnostic) bool {
		return compareWithoutPath(a, b) == 0 && (a.GetPosition().GetLine() > 0 || a.GetPath() == b.GetPath())
	})
}

// Failed reports whether an error is among the diagnostics.
func Failed(all []*sourcev1.Diagnostic) bool {
	return slices.ContainsFunc(all, func(d *sourcev1.Diagnostic) bool {
		return d.GetSeverity() == sourcev1.Severity_SEVERITY_ERROR
	})
}

// Print writes each diagnostic as "file:line:column: path: message", with the
// hint, if there is one, on an indented line of its own. What is not known is left
// out, except for an unknown file, which is "-". It returns the error of w.
func Print(w io.Writer, all []*sourcev1.Diagnostic) error {
	var b bytes.Buffer
	for _, d := range all {
		fmt.Fprintf(&b, "%s: ", Place(d.GetPosition()))
		if d.GetPath() != "" {
			fmt.Fprintf(&b, "%s: ", d.GetPath())
		}
		if d.GetSeverity() == sourcev1.Severity_SEVERITY_WARNING {
			b.WriteString("warning: ")
		}
		fmt.Fprintf(&b, "%s\n", d.GetMessage())
		if d.GetHint() != "" {
			fmt.Fprintf(&b, "\thint: %s\n", d.GetHint())
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Place returns "file:line:column", the file alone when no line is known, and "-"
// when no place is.
func Place(p *sourcev1.Position) string {
	switch {
	case p.GetFile() == "":
		return "-"
	case p.GetLine() == 0:
		return p.GetFile()
	}
	return fmt.Sprintf("%s:%d:%d", p.GetFile(), p.GetLine(), p.GetColumn())
}

func compare(a, b *sourcev1.Diagnostic) int {
	return cmp.Or(compareWithoutPath(a, b), cmp.Compare(a.GetPath(), b.GetPath()))
}

func compareWithoutPath(a, b *sourcev1.Diagnostic) int {
	return cmp.Or(
		comparePlaces(a.GetPosition(), b.GetPosition()),
		cmp.Compare(a.GetSeverity(), b.GetSeverity()),
		cmp.Compare(a.GetCode(), b.GetCode()),
		cmp.Compare(a.GetMessage(), b.GetMessage()),
	)
}

func comparePlaces(p, q *sourcev1.Position) int {
	return cmp.Or(
		cmp.Compare(p.GetFile(), q.GetFile()),
		cmp.Compare(p.GetLine(), q.GetLine()),
		cmp.Compare(p.GetColumn(), q.GetColumn()),
	)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
