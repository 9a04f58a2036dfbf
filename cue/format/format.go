// Package format takes a CUE file as it was written and gives it back as `cue fmt`
// writes it.
package format

import (
	"bytes"

	"cuelang.org/go/cue/errors"
	cueformat "cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"

	"github.com/bindery-dev/bindery/cue/diag"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// Source returns data, formatted. What is formatted stays as it is. A file that does
// not parse gives diagnostics, in which it is called path, and no result.
func Source(path string, data []byte) (formatted []byte, problems []*sourcev1.Diagnostic) {
	list := &diag.List{}
	defer func() {
		if p := recover(); p != nil {
			list.Errorf(diag.Problem{Pos: &sourcev1.Position{File: path}, Code: "formatter", Hint: "this is a bug: please report it with the file"},
				"the formatter failed: %v", p)
			formatted, problems = nil, list.Sorted()
		}
	}()
	f, err := parser.ParseFile(path, data, parser.ParseComments)
	if err == nil && len(bytes.TrimSpace(data)) > 0 { // of nothing, CUE makes an empty line
		formatted, err = cueformat.Node(f)
	}
	for _, e := range errors.Errors(err) {
		message, args := e.Msg()
		list.Errorf(diag.Problem{Pos: place(path, e), Code: "syntax"}, message, args...)
	}
	return formatted, list.Sorted()
}

func place(path string, e errors.Error) *sourcev1.Position {
	at := e.Position()
	if !at.IsValid() {
		return &sourcev1.Position{File: path}
	}
	return &sourcev1.Position{File: path, Line: uint32(at.Line()), Column: uint32(at.Column())}
}
