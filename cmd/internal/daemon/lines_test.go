package daemon

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// writes has what was written, one element for each time.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out writes
		l := NewLines(&out)
		say := func(s string) {
			if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
				t.Errorf("Write() = %d, %v", n, err)
			}
		}
		want := func(all ...string) {
			t.Helper()
			synctest.Wait()
			if strings.Join(out, "|") != strings.Join(all, "|") {
				t.Errorf("written: %q, want %q", out, all)
			}
		}
		say("a\n")
		time.Sleep(keepFor - time.Millisecond)
		say("b\n")
		want()
		time.Sleep(time.Millisecond)
		want("a\nb\n")
		say("c\n")
		l.Flush()
		want("a\nb\n", "c\n")
		time.Sleep(2 * keepFor)
		want("a\nb\n", "c\n")
		long := strings.Repeat("x", keepBytes+1)
		say(long)
		want("a\nb\n", "c\n", long)
		l.Flush()
		want("a\nb\n", "c\n", long)
	})
}
