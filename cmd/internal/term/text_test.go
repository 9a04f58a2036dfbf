package term

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestEscapes(t *testing.T) {
	tests := []struct{ in, oneLine, lines string }{
		{"plain – näyttö 漢 🙂", "plain – näyttö 漢 🙂", "plain – näyttö 漢 🙂"},
		{"a\n9  approved\tby", `a\n9  approved\tby`, "a\n9  approved\tby"},
		{"ok\r\x1b[2Kspoofed\x1b]0;title\a", `ok\r\x1b[2Kspoofed\x1b]0;title\a`, `ok\r\x1b[2Kspoofed\x1b]0;title\a`},
		{"\u009b31m\x7f\x00", `\u009b31m\x7f\x00`, `\u009b31m\x7f\x00`},
		{"\x9b31m\xff", `\x9b31m\xff`, `\x9b31m\xff`},
		{"user\u202egnp.exe", `user\u202egnp.exe`, `user\u202egnp.exe`},
		{"it's", "it's", "it's"},
	}
	for _, tt := range tests {
		if got := OneLine(tt.in); got != tt.oneLine {
			t.Errorf("OneLine(%q) = %s, want %s", tt.in, got, tt.oneLine)
		}
		if got := Lines(tt.in); got != tt.lines {
			t.Errorf("Lines(%q) = %s, want %s", tt.in, got, tt.lines)
		}
	}
}

// TestJSON: what is escaped is the same value, and nothing acts on a terminal.
func TestJSON(t *testing.T) {
	in := "{\n\t\"a\": \"x\u009b31m\x7f\u202e\u00e9\"\n}"
	got := JSON([]byte(in))
	if want := "{\n\t\"a\": \"x\\u009b31m\\u007f\\u202e\u00e9\"\n}"; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var before, after any
	if json.Unmarshal([]byte(in), &before) != nil || json.Unmarshal(got, &after) != nil || before.(map[string]any)["a"] != after.(map[string]any)["a"] {
		t.Errorf("%v has become %v", before, after)
	}
}

// TestRowIsOneLine: no cell makes a row of its own, or what a row is not.
func TestRowIsOneLine(t *testing.T) {
	var b bytes.Buffer
	NewScreen(&b).Table([]string{"REVISION", "MESSAGE"}, [][]Cell{Cells("1", "fix\n9  approved\x1b[2K"), Cells("2", "")})
	if want := "REVISION  MESSAGE\n1         fix\\n9  approved\\x1b[2K\n2\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
