package seal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = time.Unix(1_700_000_000, 0)

// secrets finds the value of a secret in a map.
func secrets(values map[string]string) func(string) (string, error) {
	return func(name string) (string, error) {
		if v, ok := values[name]; ok {
			return v, nil
		}
		return "", errNoSecret
	}
}

var errNoSecret = errors.New("no secret")

func TestSeal(t *testing.T) {
	a, b := strings.Repeat("a", MinSecret), strings.Repeat("b", MinSecret)
	box := New(secrets(map[string]string{"now": a}), "now")
	text, err := box.Seal([]byte("the plain text"), noon.Add(time.Minute), "tool", "caller")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := box.Seal([]byte("the plain text"), noon.Add(time.Minute), "tool", "caller")
	if again == text {
		t.Error("equal bytes are sealed equally")
	}
	tests := []struct {
		name   string
		box    *Box
		text   string
		at     time.Time
		bounds []string
		want   error
	}{
		{name: "as it was", box: box, text: text, at: noon, bounds: []string{"tool", "caller"}},
		{name: "at the last moment", box: box, text: text, at: noon.Add(time.Minute - 1), bounds: []string{"tool", "caller"}},
		{name: "too late", box: box, text: text, at: noon.Add(time.Minute), bounds: []string{"tool", "caller"}, want: ErrSealed},
		{name: "for another", box: box, text: text, at: noon, bounds: []string{"tool", "other"}, want: ErrSealed},
		{name: "for fewer", box: box, text: text, at: noon, bounds: []string{"tool"}, want: ErrSealed},
		{name: "bounds cut elsewhere", box: box, text: text, at: noon, bounds: []string{"toolc", "aller"}, want: ErrSealed},
		{name: "with something behind", box: box, text: text + "-TAMPERED", at: noon, bounds: []string{"tool", "caller"}, want: ErrSealed},
		{name: "nothing", box: box, at: noon, bounds: []string{"tool", "caller"}, want: ErrSealed},
		{name: "no Base64", box: box, text: "!", at: noon, want: ErrSealed},
		{name: "after the secret changed", box: New(secrets(map[string]string{"now": b, "before": a}), "now", "before"), text: text, at: noon, bounds: []string{"tool", "caller"}},
		{name: "after it is forgotten", box: New(secrets(map[string]string{"now": b}), "now"), text: text, at: noon, bounds: []string{"tool", "caller"}, want: ErrSealed},
		{name: "without the secret", box: New(secrets(nil), "now"), text: text, at: noon, bounds: []string{"tool", "caller"}, want: errNoSecret},
	}
	for _, tt := range tests {
		got, err := tt.box.Open(tt.text, tt.at, tt.bounds...)
		if err != tt.want || err == nil && string(got) != "the plain text" {
			t.Errorf("%s: %q, %v; want %v", tt.name, got, err, tt.want)
		}
	}
	if _, err := New(secrets(nil), "now").Seal(nil, noon); err != errNoSecret {
		t.Errorf("sealing without the secret: %v", err)
	}
}

// FuzzSeal holds that what was sealed opens as it was, and only with its secret, for
// what it was bound to, before its end, and as it was sent.
func FuzzSeal(f *testing.F) {
	f.Add([]byte(`{"args":{}}`), "secret", "other", "get_book", "caller", int64(60), int64(59), 0, byte(1))
	f.Add([]byte{}, "", "x", "", "a\x00b", int64(0), int64(0), 30, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, secret, other, tool, caller string, lasts, after int64, at int, flip byte) {
		if lasts < 0 || lasts > 1<<40 || after < 0 || after > 1<<40 {
			return
		}
		box := New(secrets(map[string]string{"k": secret}), "k")
		text, err := box.Seal(data, noon.Add(0).Add(seconds(lasts)), tool, caller)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 8 && strings.Contains(text, string(data)) {
			t.Error("what is sealed can be read")
		}
		now := noon.Add(seconds(after))
		got, err := box.Open(text, now, tool, caller)
		if alive := noon.Add(seconds(lasts)).Unix() > now.Unix(); (err == nil) != alive || alive && !bytes.Equal(got, data) {
			t.Errorf("it opens: %v, want %v: %q", err, alive, got)
		}
		closed := func(what string, b *Box, text string, bounds ...string) {
			if got, err := b.Open(text, noon, bounds...); err != ErrSealed {
				t.Errorf("%s: it opens: %q, %v", what, got, err)
			}
		}
		if other != secret && len(other) <= 64 && len(secret) <= 64 && !bytes.Equal(bytes.TrimRight([]byte(other), "\x00"), bytes.TrimRight([]byte(secret), "\x00")) {
			closed("another secret", New(secrets(map[string]string{"k": other}), "k"), text, tool, caller)
		}
		closed("another tool", box, text, tool+"x", caller)
		closed("another caller", box, text, tool, "x"+caller)
		closed("moved bounds", box, text, caller+"x", tool)
		if flip != 0 {
			spoiled := []byte(text)
			spoiled[uint(at)%uint(len(spoiled))] ^= flip
			if !bytes.ContainsAny(spoiled, "\r\n") {
				closed("other bytes", box, string(spoiled), tool, caller)
			}
		}
	})
}

func seconds(n int64) time.Duration { return time.Duration(min(n, 1<<33)) * time.Second }
