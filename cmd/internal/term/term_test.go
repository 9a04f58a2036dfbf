package term

import (
	"bytes"
	"io"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	rows := [][]Cell{
		{{Text: "n1"}, {Text: "synced", Style: Green}, {Text: "12ms"}},
		{{Text: "näyttö"}, {}, {Text: "–"}},
		{{Text: "n3"}, {Text: "rejected", Style: Red}, {}},
	}
	tests := []struct {
		name  string
		color bool
		want  string
	}{
		{"plain", false, "" +
			"NODE    STATE     TOOK\n" +
			"n1      synced    12ms\n" +
			"näyttö            –\n" +
			"n3      rejected\n"},
		{"colour", true, "" +
			"\x1b[2mNODE\x1b[0m    \x1b[2mSTATE\x1b[0m     \x1b[2mTOOK\x1b[0m\n" +
			"n1      \x1b[32msynced\x1b[0m    12ms\n" +
			"näyttö            –\n" +
			"n3      \x1b[31mrejected\x1b[0m\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			s := NewScreen(&b)
			s.color = tt.color
			s.Table([]string{"NODE", "STATE", "TOOK"}, rows)
			if b.String() != tt.want {
				t.Errorf("got\n%q\nwant\n%q", b.String(), tt.want)
			}
		})
	}
}

func TestTableWithoutRows(t *testing.T) {
	var b bytes.Buffer
	NewScreen(&b).Table([]string{"NODE"}, nil)
	if b.Len() != 0 {
		t.Errorf("got %q, want nothing", b.String())
	}
}

func TestProgress(t *testing.T) {
	tests := []struct {
		name string
		live bool
		want string
	}{
		{"terminal", true, "1 of 2\r\x1b[K2 of 2\r\x1b[Kdone\n"},
		{"pipe", false, "done\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			s := NewScreen(&b)
			s.live = tt.live
			s.Progress("%d of 2", 1)
			s.Progress("%d of 2", 2)
			s.Write([]byte("done\n"))
			if b.String() != tt.want {
				t.Errorf("got %q, want %q", b.String(), tt.want)
			}
		})
	}
}

// TestProgressBeside: of two outputs that are one terminal, each writes where the other
// showed progress.
func TestProgressBeside(t *testing.T) {
	var b bytes.Buffer
	out := NewScreen(&b)
	err := out.Beside(&b)
	out.live, err.live = true, true
	err.Progress("1 of 2")
	out.Write([]byte("compiled\n"))
	err.Progress("2 of 2")
	out.Progress("done soon")
	err.Write([]byte("warning\n"))
	out.Write([]byte("done\n"))
	if want := "1 of 2\r\x1b[Kcompiled\n2 of 2\r\x1b[Kdone soon\r\x1b[Kwarning\ndone\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestOnBroken(t *testing.T) {
	s := NewScreen(full{})
	s.Write(nil) // nobody is told
	var told error
	s.OnBroken(func(err error) { told = err })
	s.Table([]string{"NODE"}, [][]Cell{Cells("n1")})
	if told != io.ErrShortWrite {
		t.Errorf("told of %v", told)
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestDurations(t *testing.T) {
	tests := []struct {
		d         time.Duration
		age, took string
	}{
		{-time.Second, "0s", "0.0ms"},
		{400 * time.Microsecond, "0s", "0.4ms"},
		{12 * time.Millisecond, "0s", "12ms"},
		{42 * time.Second, "42s", "42.0s"},
		{5 * time.Minute, "5m", "300.0s"},
		{47 * time.Hour, "47h", "169200.0s"},
		{73 * time.Hour, "3d", "262800.0s"},
	}
	for _, tt := range tests {
		if Age(tt.d) != tt.age || Took(tt.d) != tt.took {
			t.Errorf("%v: %s, %s; want %s, %s", tt.d, Age(tt.d), Took(tt.d), tt.age, tt.took)
		}
	}
}

func TestWord(t *testing.T) {
	for s, want := range map[string]string{
		"shop": "shop", "/srv/a_b-1.cue": "/srv/a_b-1.cue", "my shop": "'my shop'", "näyttö": "'näyttö'", "it's": `'it'\''s'`,
		"": "''", "-x": "./-x", "- x": "'./- x'", "$HOME": "'$HOME'", "~": "'~'",
	} {
		if got := Word(s); got != want {
			t.Errorf("Word(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 tools", 1: "1 tool", 2: "2 tools"} {
		if got := Count(n, "tool"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
