//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and the group that old has, as far as this process may:
// as a rule only root may give a file away.
func keepOwner(f *os.File, old fs.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(-1, int(s.Gid)) // the group alone may be allowed
		_ = f.Chown(int(s.Uid), -1)
	}
}
