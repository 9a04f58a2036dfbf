//go:build !linux

package worker

// largePages does nothing here.
func largePages(int) {}
