package discoveryv1

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "secret \"api-key\" is missing: größer", "secret \"api-key\" is missing: größer"},
		{"lines", "one\ntwo\r\n\tthree\u2028four", "one two   three four"},
		{"escape sequences", "\x1b[2J\x1b]0;title\x07", "?[2J?]0;title?"},
		{"of one byte more", "\u009b2J", "?2J"},
		{"right to left", "a\u202eb", "a?b"},
		{"joined letters", "می\u200cخواهم", "می\u200cخواهم"},
		{"no UTF-8", "a\xffb\x80", "ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Plain(tt.text); got != tt.want {
				t.Errorf("Plain(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestBounded(t *testing.T) {
	long := &Reason{Code: "x", Message: strings.Repeat("é", MaxText), Hint: "a\nb"}
	reasons := make([]*Reason, 2*MaxReasons)
	for i := range reasons {
		reasons[i] = long
	}
	got := Bounded(reasons)
	if len(got) != MaxReasons || got[0].GetMessage() != strings.Repeat("é", MaxText/2) || got[0].GetHint() != "a b" || got[0].GetCode() != "x" {
		t.Errorf("%d reasons, the first is %v", len(got), got[0])
	}
	if len(long.GetMessage()) != 2*MaxText || long.GetHint() != "a\nb" {
		t.Error("a reason that was given is changed")
	}
	if got := Bounded([]*Reason{{Message: "x" + strings.Repeat("é", MaxText)}}); !strings.HasSuffix(got[0].GetMessage(), "é") {
		t.Errorf("cut within a letter: %q", got[0].GetMessage())
	}
}

func TestCheckLabels(t *testing.T) {
	if err := CheckLabels(map[string]string{"zone": strings.Repeat("x", MaxLabels-4)}); err != nil {
		t.Error(err)
	}
	err := CheckLabels(map[string]string{"zone": strings.Repeat("x", MaxLabels-4), "y": ""})
	if err == nil || !strings.Contains(err.Error(), "have 4097 bytes together, more than 4096") {
		t.Errorf("CheckLabels = %v", err)
	}
}
