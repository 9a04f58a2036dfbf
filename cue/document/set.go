package document

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ErrNoDocument is returned, wrapped, for a document that the module does not
// have.
var ErrNoDocument = errors.New("no such document")

// A Set is the JSON documents of a module. A document is parsed when it is first
// asked for, and once. A Set may be used concurrently.
type Set struct {
	open map[string]func() (*Document, error)
	byID func() map[string][]*Document // by $id, in the order of their paths
}

// NewSet returns the documents of files, which maps slash-separated paths relative
// to the module's root to contents.
func NewSet(files map[string][]byte) *Set {
	s := &Set{open: make(map[string]func() (*Document, error), len(files))}
	for name, data := range files {
		s.open[name] = sync.OnceValues(func() (*Document, error) { return Parse(name, data) })
	}
	s.byID = sync.OnceValue(s.index)
	return s
}

// index returns the documents that parse and have an $id, by that.
func (s *Set) index() map[string][]*Document {
	all := map[string][]*Document{}
	for _, name := range s.Names() {
		if doc, err := s.Open(name); err == nil && doc.id() != "" {
			all[doc.id()] = append(all[doc.id()], doc)
		}
	}
	return all
}

// Names returns the paths of all documents, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.open)) }

// Open returns the document at a path relative to the module's root. The error
// wraps [ErrNoDocument] or is a [*SyntaxError].
func (s *Set) Open(name string) (*Document, error) {
	open, ok := s.open[name]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNoDocument, name)
	}
	return open()
}

// resolve finds what a $ref in from refers to. A file is looked for by its name
// next to from before any $id is considered: $ids are copied between versions of a
// schema, file names in one directory are unique.
func (s *Set) resolve(from *Document, ref string) (*Document, string, error) {
	if from.base != nil {
		from = from.base
	}
	file, fragment, _ := strings.Cut(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, "", fmt.Errorf("$ref %q is not a URI reference", ref)
	}
	if file == "" {
		return from, pointer, nil
	}
	doc, err := s.find(from, file)
	return doc, pointer, err
}

// find returns the document that a $ref in from names. A relative reference is a path
// from there; of a whole URI the last segment is a file beside from.
func (s *Set) find(from *Document, file string) (*Document, error) {
	name := path.Join(path.Dir(from.Path), file)
	if hasScheme(file) {
		name = path.Join(path.Dir(from.Path), path.Base(file))
	}
	if _, ok := s.open[name]; ok {
		return s.Open(name)
	}
	return s.findID(from, file)
}

// hasScheme reports whether a reference is a whole URI, which no base changes.
func hasScheme(ref string) bool {
	u, err := url.Parse(ref)
	return err == nil && u.Scheme != ""
}

func (s *Set) findID(from *Document, ref string) (*Document, error) {
	want := absolute(from.id(), ref)
	found := s.byID()[want]
	switch len(found) {
	case 0:
		if !strings.Contains(want, "://") {
			return nil, fmt.Errorf("%w: there is no file %s", ErrNoDocument, path.Join(path.Dir(from.Path), ref))
		}
		return nil, fmt.Errorf("%w: neither a file %q beside %s nor a document with the $id %q", ErrNoDocument, path.Base(ref), from.Path, want)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%s and %s both have the $id %q: refer to one by its file name", found[0].Path, found[1].Path, want)
}

// id returns the $id of the document without a fragment, "" when it has none.
func (d *Document) id() string {
	id, _ := d.Root.Get("$id").AsString()
	return strings.TrimSuffix(id, "#")
}

func absolute(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	u, err := b.Parse(ref)
	if err != nil {
		return ref
	}
	return u.String()
}

// A PointerError says where a JSON Pointer leads nowhere.
type PointerError struct {
	Pointer string   // that was followed
	Token   string   // that is not there
	Names   []string // the members that are there instead, sorted
}

func (e *PointerError) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("the document has no %q", e.Token)
	}
	return fmt.Sprintf("%s has no %q", e.Pointer, e.Token)
}

// embedding returns the $id that a value at a pointer of d stands below, other than that of
// the document; nil when there is none.
func (d *Document) embedding(pointer string) (id *Value) {
	v := d.Root
	for _, token := range Tokens(pointer) {
		if v != d.Root && v.rebases() {
			id = v.Get("$id")
		}
		if v = v.child(token); v == nil {
			break
		}
	}
	return id
}

// isRoot reports whether v is all of a document.
func (v *Value) isRoot() bool { return v.doc != nil && v.doc.Root == v }

// rebases reports whether v, a schema, has an $id that changes what a $ref below it refers
// to.
func (v *Value) rebases() bool {
	id, ok := v.Get("$id").AsString()
	return ok && !strings.HasPrefix(id, "#")
}

// At returns the value at a JSON Pointer. The error is a [*PointerError].
func (d *Document) At(pointer string) (*Value, error) {
	v, rest := d.Root, pointer
	for rest != "" {
		token := rest[1:]
		if rest[0] != '/' {
			return nil, &PointerError{Pointer: "", Token: rest}
		}
		rest = ""
		if i := strings.IndexByte(token, '/'); i >= 0 {
			token, rest = token[:i], token[i:]
		}
		token = unescape.Replace(token)
		next := v.child(token)
		if next == nil {
			at := strings.TrimSuffix(pointer, rest)
			return nil, &PointerError{Pointer: at[:strings.LastIndexByte(at, '/')], Token: token, Names: v.names()}
		}
		v = next
	}
	return v, nil
}

func (v *Value) child(token string) *Value {
	if v.Kind != Array {
		return v.Get(token)
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.Items) {
		return v.Items[i]
	}
	return nil
}

func (v *Value) names() []string {
	var names []string
	for _, m := range v.Members {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Tokens splits a JSON Pointer into its unescaped tokens.
func Tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		tokens[i] = unescape.Replace(t)
	}
	return tokens
}

// Pointer returns the JSON Pointer of tokens.
func Pointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + escape.Replace(t))
	}
	return b.String()
}
