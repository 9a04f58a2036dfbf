//go:build !linux && !darwin

package secret

import (
	"io/fs"
	"time"
)

// changed returns when a file was last written, as its stamp says: one that is written in
// place, with as many bytes and the stamp of before, looks as it did.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }
