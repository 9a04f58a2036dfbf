package secret

import (
	"io/fs"
	"syscall"
	"time"
)

// changed returns when a file, or a stamp of it, was last changed: no program can set
// that.
func changed(info fs.FileInfo) time.Time {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(sys.Ctimespec.Unix())
	}
	return info.ModTime()
}
