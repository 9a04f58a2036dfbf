//go:build !linux

package worker

import (
	"os"
	"os/exec"
)

func executable() (string, error) { return os.Executable() }

func ownGroup(*exec.Cmd) {}

func killed(*os.ProcessState) bool { return false }

// limit does nothing: the deadline, and what the Go runtime itself can bound, are
// what ends a child here.
func limit() error { return nil }
