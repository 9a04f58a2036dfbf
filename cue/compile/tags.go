package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"
)

// unused returns the name of a tag that CUE says no file takes, "" when it says so
// of none. It names one at a time.
func unused(instances []*build.Instance) string {
	for _, inst := range instances {
		for _, e := range errors.Errors(inst.Err) {
			format, args := e.Msg()
			if len(args) > 0 && (strings.HasPrefix(format, "tag %q not used") || strings.HasPrefix(format, "no tag for %q")) {
				return tagName(fmt.Sprint(args[0]))
			}
		}
	}
	return ""
}

// tagName returns env of "env=prod", and "prod" of "prod".
func tagName(tag string) string {
	name, _, _ := strings.Cut(tag, "=")
	return name
}

// checkTags reports the tags that are strange to every batch: one package's tag is
// strange to the others.
func (m *module) checkTags(batches []result, r report) {
	for _, tag := range m.tags {
		strange := func(b result) bool { return slices.Contains(b.strange, tagName(tag)) }
		if len(batches) > 0 && !slices.ContainsFunc(batches, func(b result) bool { return !strange(b) }) {
			r.unknownTag(tagName(tag), m.knownTags())
		}
	}
}

var tagAttribute = regexp.MustCompile(`^@tag\(\s*([^,\s)]+)(?:.*\bshort=([^,\s)]+))?`)

// knownTags returns the names of the tags that files take, and their short forms.
func (m *module) knownTags() []string {
	var names []string
	for _, f := range m.files {
		tree := f.tree()
		if tree == nil {
			continue
		}
		ast.Walk(tree, func(n ast.Node) bool {
			if a, ok := n.(*ast.Attribute); ok {
				names = append(names, tagNames(a.Text)...)
			}
			return true
		}, nil)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tagNames returns env, dev and prod of @tag(env,short=dev|prod).
func tagNames(attribute string) []string {
	match := tagAttribute.FindStringSubmatch(attribute)
	if match == nil {
		return nil
	}
	return append(match[1:2], strings.FieldsFunc(match[2], func(r rune) bool { return r == '|' })...)
}
