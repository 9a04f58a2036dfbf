package compile

import (
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/cue/outline"
)

// roots are the fields of a package whose members are held to the language, and the
// definitions that they are held to.
var roots = map[string]string{"bindings": "#Binding", "tests": "#Test"}

// law returns the definition of the language that a path of a package begins in, and the
// rest of the path; "" where it begins in none.
func (x examiner) law(path []string) (definition string, below []string) {
	if len(path) > 1 && roots[path[0]] != "" {
		return roots[path[0]], path[2:]
	}
	if len(path) == 0 || !strings.HasPrefix(path[0], "#") {
		return "", nil
	}
	for _, r := range reachable(x.author.Down(path[0])) {
		if _, name, _ := strings.Cut(r.Name, ".#"); !r.To.Exists() && x.shape("#"+name).Exists() {
			return "#" + name, path[1:]
		}
	}
	return "", nil
}

// language returns what the language has at a path of a package, at nothing where it
// has nothing.
func (x examiner) language(path []string) outline.Cursor {
	definition, below := x.law(path)
	if definition == "" {
		return outline.Cursor{}
	}
	return x.shape(definition).Down(below...)
}

// heldTo returns the name of the definition of the language that the value at a path of a
// package is held to, "" where the language gives it no name.
func (x examiner) heldTo(path []string) string {
	definition, below := x.law(path)
	if len(below) == 0 {
		return definition
	}
	for _, r := range x.language(path).References() {
		if strings.HasPrefix(r.Name, "#") {
			return r.Name
		}
	}
	return ""
}

// closing returns the reference to a definition that does not let a field be where the
// language has it, and the part of the field's path that leads to what refers to it. The
// reference has no name where the author's package does not show which it is.
func (x examiner) closing(path []string) (ref outline.Reference, at []string) {
	for n := len(path) - 1; x.language(path[:n]).Exists(); n-- {
		all := reachable(x.author.Down(path[:n]...))
		i := slices.IndexFunc(all, func(r outline.Reference) bool { return closes(r, path[n:]) })
		if i < 0 {
			i = slices.IndexFunc(all, x.foreign)
		}
		if i >= 0 {
			return all[i], path[:n]
		}
	}
	at = path[:len(path)-1]
	return outline.Reference{Pos: x.enclosing(value{written: written{path: path}}, outline.Conditional)}, at
}

// reachable returns the references of c, and those of what they refer to, each once and
// the nearest first.
func reachable(c outline.Cursor) []outline.Reference {
	all := c.References()
	for i := 0; i < len(all); i++ {
		for _, next := range all[i].To.References() {
			if !slices.ContainsFunc(all, func(r outline.Reference) bool { return same(r.Pos, next.Pos) }) {
				all = append(all, next)
			}
		}
	}
	return all
}

// closes reports whether r names a definition of the author's package that has no room for
// the field at a path below it.
func closes(r outline.Reference, path []string) bool {
	if !strings.Contains(r.Name, "#") || !r.To.Exists() {
		return false
	}
	for n := range path {
		c := r.To.Down(path[:n]...)
		if slices.ContainsFunc(reachable(c), func(r outline.Reference) bool { return !r.To.Exists() }) {
			return false
		}
		if !c.Down(path[n]).Exists() {
			return !c.Opaque()
		}
	}
	return false
}

// foreign reports whether r names a definition of another package that is not the
// language.
func (x examiner) foreign(r outline.Reference) bool {
	_, name, other := strings.Cut(r.Name, ".#")
	return other && !r.To.Exists() && !x.shape("#"+name).Exists()
}
