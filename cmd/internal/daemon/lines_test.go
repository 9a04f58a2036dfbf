package daemon

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// writes has what was written, one element for each time.
type writes struct {
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(p))
	return len(p), nil
}

func (w *writes) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.all, "|")
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
			if got := out.String(); got != strings.Join(all, "|") {
				t.Errorf("written: %q, want %q", got, all)
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
