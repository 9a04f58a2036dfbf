package table

import (
	"bytes"
	"encoding/json"
)

// additions are the revisions of MCP that added something to what lists say, the oldest
// first; "" stands for the first revision.
var additions = []string{"", "2025-03-26", "2025-06-18", "2025-11-25"}

// An Entry is what a list has of something small: a text for each revision of MCP that
// shows it otherwise. What is large has a [listing].
type Entry struct {
	key   string
	forms []form // the oldest first, never none
}

// A form is an entry for clients that speak a revision or a later one.
type form struct {
	version string
	json    []byte // without newlines
}

// newEntry returns the entry of something whose lists are sorted by key. of returns what
// it is for a revision of MCP: what marshals as JSON without fail.
func newEntry(key string, of func(version string) any) Entry {
	e := Entry{key: key}
	for _, version := range additions {
		text := encode(of(version))
		if n := len(e.forms); n == 0 || !bytes.Equal(e.forms[n-1].json, text) {
			e.forms = append(e.forms, form{version, text})
		}
	}
	return e
}

// Key returns what lists of it are sorted by.
func (e *Entry) Key() string { return e.key }

// Size returns how long the entry is at most, in bytes: later revisions only add.
func (e *Entry) Size() int { return len(e.newest()) }

// AppendListed appends the entry for a client that speaks a revision of MCP.
func (e *Entry) AppendListed(dst []byte, version string) []byte {
	shown := e.forms[0].json
	for _, f := range e.forms[1:] {
		if f.version <= version {
			shown = f.json
		}
	}
	return append(dst, shown...)
}

// newest returns the entry for who speaks the newest revision. It differs where that for
// any other differs.
func (e *Entry) newest() []byte { return e.forms[len(e.forms)-1].json }

// encode returns v, which marshals without fail, as JSON without newlines.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // models read this
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
