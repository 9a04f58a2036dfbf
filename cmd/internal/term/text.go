package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine returns s, which may come from anywhere, so that a terminal shows it and does
// nothing else: each control character (C0, DEL and C1), each that turns the direction
// of text, and each byte that is no UTF-8 is written as Go would escape it.
func OneLine(s string) string { return escaped(s, "") }

// Lines is [OneLine] for a text that may have several lines, and tabs.
func Lines(s string) string { return escaped(s, "\n\t") }

// JSON returns a JSON value with what [OneLine] escapes escaped as JSON has it: it means
// the same. White space between tokens stays.
func JSON(data []byte) []byte {
	if !needsEscape(string(data), "\n\t\r") {
		return data
	}
	var b strings.Builder
	for _, r := range string(data) {
		if acts(r) && !strings.ContainsRune("\n\t\r", r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return []byte(b.String())
}

func escaped(s, kept string) string {
	if !needsEscape(s, kept) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case acts(r) && !strings.ContainsRune(kept, r):
			b.WriteString(strings.Trim(fmt.Sprintf("%+q", r), "'"))
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func needsEscape(s, kept string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return acts(r) && !strings.ContainsRune(kept, r) })
}

// acts reports whether a terminal may do something with r other than to show it in its
// place.
func acts(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

func oneLineEach(rows [][]Cell) [][]Cell {
	clean := make([][]Cell, len(rows))
	for i, row := range rows {
		for _, c := range row {
			clean[i] = append(clean[i], Cell{OneLine(c.Text), c.Style})
		}
	}
	return clean
}
