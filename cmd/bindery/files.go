package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile makes data the content of the file called name. Who reads it meanwhile
// sees the old content or the new one, whole.
//
// A symbolic link is followed. A file that is there keeps its mode, and its owner where
// this process may give that; a new one has the mode 0644. What is there and is no
// regular file, such as a device or a pipe, is written to and stays what it is; so is the
// place to which a link leads where there is nothing.
func replaceFile(name string, data []byte) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !isLink(name):
		return renameOver(name, data, nil)
	case errors.Is(err, fs.ErrNotExist):
		return os.WriteFile(name, data, 0o644) // where the link leads
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return writeTo(name, data)
	}
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	return renameOver(target, data, info)
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// renameOver puts a new file in the place of the one called name, of which old is what
// was known; nil when there is none.
func renameOver(name string, data []byte, old fs.FileInfo) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".bindery-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is none
	_, err = f.Write(data)
	mode := fs.FileMode(0o644)
	if old != nil {
		mode = old.Mode().Perm()
		keepOwner(f, old)
	}
	if cerr := f.Chmod(mode); err == nil {
		err = cerr
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeTo writes data to what is there already.
func writeTo(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
