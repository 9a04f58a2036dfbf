// Package examples holds a folder an idea: modules, and the sample services that
// they are about.
package examples

// Every module keeps the copy of the language that plain `cue vet` and editors read.
//go:generate sh -c "for m in */cue.mod/pkg/bindery.dev/bind; do rm -f $DOLLAR{m}/*.cue && cp ../cue/schema/bind/*.cue $DOLLAR{m}/; done"
