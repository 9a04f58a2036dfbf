package worker

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// executable is the running program, even after an upgrade has replaced its file.
func executable() (string, error) { return "/proc/self/exe", nil }

// ownGroup puts the child into a process group of its own, so that stopping it
// stops all of it and a Ctrl-C meant for us does not reach it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// limit bounds the process it is called in. Soft and hard limits are equal: the Go
// runtime ignores the signal of the soft one.
func limit() error {
	if err := set(syscall.RLIMIT_CPU, uint64(maxCPU/time.Second)); err != nil {
		return err
	}
	if err := set(syscall.RLIMIT_NOFILE, maxFiles); err != nil {
		return err
	}
	if raceDetector {
		return nil // it maps terabytes
	}
	mapped, err := addressSpace()
	if err != nil {
		return err
	}
	return set(syscall.RLIMIT_AS, mapped+maxMemory)
}

// set sets a limit, or leaves it when it is lower already.
func set(resource int, value uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(resource, &now); err != nil {
		return err
	}
	value = min(value, now.Max)
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: value, Max: value})
}

// addressSpace returns how many bytes the process has mapped: more than a GiB at
// the start of any Go program.
func addressSpace() (uint64, error) {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := bytes.Cut(data, []byte(" "))
	n, err := strconv.ParseUint(string(pages), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return n * uint64(os.Getpagesize()), nil
}
