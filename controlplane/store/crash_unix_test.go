//go:build unix

package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bindery-dev/bindery/controlplane/store"
	"golang.org/x/sys/unix"
)

// TestFullDisk makes every write beyond the file's present size fail, as a full disk
// does, and then makes room again.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := open(t, bolt(t, dir))
	first := draft(t, 0, "first", 0)
	commit(t, s, first)

	room := limitFiles(t, filepath.Join(dir, "bindery.db"))
	_, err := s.Commit(t.Context(), draft(t, 1, "second", 900<<10))
	if err == nil || !strings.Contains(err.Error(), "file too large") {
		t.Errorf("Commit without room: %v", err)
	}
	if head, err := s.Head(t.Context(), "library"); err != nil || head.GetGeneration().GetNumber() != 1 {
		t.Errorf("head without room: %v, %v", head, err)
	}
	checkRevision(t, s, 1, first)
	room()

	second := draft(t, 1, "second", 900<<10)
	commit(t, s, second)
	checkRevision(t, s, 2, second)
}

// limitFiles lets no file of this process grow beyond the size that the named one
// has, until the returned function is called.
func limitFiles(t *testing.T, name string) (undo func()) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGXFSZ) // the write then fails with EFBIG
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limit := old
	limit.Cur = uint64(info.Size())
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	undo = func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(undo)
	return undo
}

const victim = "BINDERY_TEST_STORE"

// TestKilled kills a process that commits one revision after the other. What it said
// is committed is there, whole, and the store can be written.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(victim); dir != "" {
		commitForever(t, dir)
	}
	dir := t.TempDir()
	last := uint64(0)
	for round := range 5 {
		said := killed(t, dir, round)
		s, err := store.Open(t.Context(), bolt(t, dir), made)
		if err != nil {
			t.Fatal(err)
		}
		head, err := s.Head(t.Context(), "library")
		if err != nil {
			t.Fatal(err)
		}
		last = head.GetGeneration().GetNumber()
		if last < said {
			t.Errorf("round %d: revision %d was committed, the head is %d", round, said, last)
		}
		for n := uint64(1); n <= last; n++ {
			checkRevision(t, s, n, endless(t, n-1))
		}
		s.Close()
	}
	t.Logf("%d revisions survived 5 kills", last)
}

func endless(t testing.TB, base uint64) store.Draft {
	return draft(t, base, fmt.Sprint("revision ", base+1), 700<<10)
}

// commitForever is the process that is killed. It says what it committed.
func commitForever(t *testing.T, dir string) {
	s := open(t, bolt(t, dir))
	head, err := s.Head(t.Context(), "library")
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	for base := head.GetGeneration().GetNumber(); ; base++ {
		commit(t, s, endless(t, base))
		fmt.Printf("committed %d\n", base+1)
	}
}

// killed kills such a process while it writes, and returns the last number that it
// said is committed.
func killed(t *testing.T, dir string, round int) (said uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), victim+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for count := 0; lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "committed %d", &said); err != nil {
			t.Fatalf("the process says %q", lines.Text())
		}
		if count++; count == 2+round {
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	if said == 0 {
		t.Fatal("the process committed nothing")
	}
	return said
}
