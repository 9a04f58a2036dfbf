package journey

import (
	"fmt"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// variant returns the sources of a small module in its n-th form. Between two
// forms everything changes that a call depends on: the payload's schema (the
// bound of copies), the path, a constant header, a meta rule's header and the
// error rules. What a caller sends suits all of them.
func variant(n int, upstream string) *sourcev1.Sources {
	return &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"library.example@v0\"\nlanguage: version: \"v0.16.0\"\n")},
		{Path: "library.cue", Data: fmt.Appendf(nil, librarySource, n, upstream)},
		{Path: "loan.json", Data: fmt.Appendf(nil, loanSchema, maxCopies(n))},
	}}
}

// maxCopies is what the n-th form accepts; a payload with one more than any form
// accepts is refused by all, and the refusal says by which.
func maxCopies(n int) int { return 1000 + n }

const tooManyCopies = 1_000_000

const librarySource = `package bindings

import "bindery.dev/bind"

_form: "%[1]d"

bindings: library: bind.#Binding & {
	schema: "loan.json"
	upstream: {url: %[2]q, headers: "X-Form": _form}
	upstream: auth: bearer: secret: "library-token"
	meta: branch: header: "X-Branch-\(_form)"
	errors: {
		style: "jsonrpc"
		rules: conflict: {status: ["409"], code: -32100 - %[1]d, set: rule: _form, fallback: rule: _form}
		payload: {code: -32000, data: {form: _form}, members: message: "message"}
	}
	tools: lend: {
		description: "Lend a book, form \(_form)."
		http:        "POST /form\(_form)/loans/{id}"
		args: id: description: "The loan."
		payload: "Loan"
		result:  "dual"
	}
}
`

const loanSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"$defs": {
		"Loan": {
			"type": "object",
			"properties": {"copies": {"type": "integer", "minimum": 1, "maximum": %d}},
			"required": ["copies"]
		}
	}
}
`
