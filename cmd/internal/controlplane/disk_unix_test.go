//go:build unix

package controlplane

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
)

// TestFullDisk lets the store's file grow no further, as a full disk does. The
// operator is told, nodes are served on, and with room again all goes on.
func TestFullDisk(t *testing.T) {
	data := t.TempDir()
	p := start(t, data, "")
	a := join(t, "a", nil, p.addr)
	p.node("a", in(pending))
	p.want(adminv1.Result_RESULT_SYNCED, sources("loans.cue", "one"))

	info, err := os.Stat(filepath.Join(data, "bindery.db"))
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGXFSZ) // the write then fails with EFBIG
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	full := old
	full.Cur = uint64(info.Size())
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	large := sources("loans.cue", strings.Repeat("x", 900<<10))
	_, err = p.apply(large)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	refused(t, err, codes.Internal, `no revision was stored and group "default" stays as it is`)
	p.node("a", syncedAt(1))
	p.want(adminv1.Result_RESULT_SYNCED, large)
	if len(a.titles()) != 900<<10 {
		t.Errorf("the node runs %d bytes", len(a.titles()))
	}
}
