// Package proto holds what crosses a process boundary: the IR that a compiler
// writes and a node runs, the messages between node and control plane, and those
// between operator and control plane.
//
// cue, controlplane and dataplane know each other only through it.
package proto

//go:generate sh -c "cd .. && go tool -modfile=tools/go.mod buf generate"
