// Package term takes what a command has to say and lays it out for a person: as
// tables, in colour and with a line of progress where the output is a terminal.
package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Screen is an output and what it can show. It is safe for concurrent use.
type Screen struct {
	live  bool // is a terminal: a line can be rewritten
	color bool
	line  *line

	mu     sync.Mutex
	w      io.Writer
	broken func(error)
}

// A line is the last one of a terminal, which several screens may write to.
type line struct {
	mu   sync.Mutex
	held io.Writer // shows progress in it; nil when none does
}

// clear takes the progress away.
func (l *line) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wipe()
}

// wipe is clear for who has locked l.
func (l *line) wipe() {
	if l.held != nil {
		io.WriteString(l.held, "\r\x1b[K")
		l.held = nil
	}
}

// NewScreen returns the screen that w is. It shows colour and progress only when w
// is a terminal, and colour only when the environment variable NO_COLOR is unset
// or empty (no-color.org) and TERM is not "dumb".
func NewScreen(w io.Writer) *Screen { return newScreen(w, &line{}) }

// Beside returns the screen that w is, as [NewScreen] does, where w may be the same
// terminal as that of s: what either writes replaces the progress of both.
func (s *Screen) Beside(w io.Writer) *Screen { return newScreen(w, s.line) }

func newScreen(w io.Writer, l *line) *Screen {
	live := isTerminal(w)
	return &Screen{w: w, line: l, live: live, color: live && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// A Style is how a word is shown; the zero Style is plain.
type Style string

// The styles. They never carry what the words do not say.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Paint returns text in a style, or as it is where the screen shows none.
func (s *Screen) Paint(style Style, text string) string {
	if !s.color || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Write writes p below what was written before; a line of progress goes first.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.clear() // locked for no longer: a slow reader of w holds up no other screen
	n, err := s.w.Write(p)
	if err != nil && s.broken != nil {
		s.broken(err)
	}
	return n, err
}

// OnBroken has f told of each error of writing, also where who writes does not look at
// it; nil has nobody told. f must not write to the screen.
func (s *Screen) OnBroken(f func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = f
}

// Progress shows a line that the next output replaces. It shows nothing where the
// output is no terminal.
func (s *Screen) Progress(format string, args ...any) {
	if !s.live {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	s.line.wipe()
	fmt.Fprintf(s.w, format, args...)
	s.line.held = s.w
}

// A Cell is one field of a table.
type Cell struct {
	Text  string
	Style Style
}

// Cells returns plain cells.
func Cells(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

// Table writes rows in columns that line up, under a header. It writes nothing
// when there are no rows.
func (s *Screen) Table(header []string, rows [][]Cell) {
	if len(rows) == 0 {
		return
	}
	head := Cells(header...)
	for i := range head {
		head[i].Style = Dim
	}
	s.List(append([][]Cell{head}, rows...))
}

// List writes rows in columns that line up, without a header. A row is one line,
// whatever its cells hold: see [OneLine].
func (s *Screen) List(rows [][]Cell) {
	rows = oneLineEach(rows)
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.Text))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		pad := 0
		for i, c := range row {
			if c.Text == "" {
				pad += widths[i] + 2
				continue
			}
			b.WriteString(strings.Repeat(" ", pad))
			b.WriteString(s.Paint(c.Style, c.Text))
			pad = widths[i] - utf8.RuneCountInString(c.Text) + 2
		}
		b.WriteByte('\n')
	}
	io.WriteString(s, b.String())
}

// Age returns d in the largest unit that is not zero: "42s", "5m", "3h" or "12d".
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Took returns d as people read durations: "0.4ms", "12ms" or "1.3s".
func Took(d time.Duration) string {
	switch d = max(0, d); {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// Count returns "1 tool" or "3 tools".
func Count[N int | uint32 | int64](n N, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Word returns s as one word of a shell's command line: as it is, or in single quotes
// where the shell would take it for something else. An s that begins with a dash, as a
// flag does, is taken for a path.
func Word(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./@%+=:,-", r))
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
