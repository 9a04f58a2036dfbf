package compile

import (
	"regexp"
	"slices"
	"strings"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// conceal takes values out of what is said of the data of a test: a test of a payment
// has card numbers in it, and diagnostics end up in the logs of builds. Where the
// author wrote the value is said all the same.
func conceal(d *sourcev1.Diagnostic) {
	if isData(d.GetPath()) && quotesValues.MatchString(d.GetMessage()) {
		d.Message = literals.ReplaceAllString(d.GetMessage(), "...")
	}
}

var (
	quotedLabel = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	// quotesValues matches the messages that repeat a value; others name fields.
	quotesValues = regexp.MustCompile(`conflicting values|does not satisfy|invalid value|mismatched types`)
	literals     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[0-9][0-9.eE+-]*`)
)

// isData reports whether a path is in that of a test which callers and upstreams
// send: arguments, bodies, headers and what comes of them.
func isData(path string) bool {
	labels := strings.Split(quotedLabel.ReplaceAllString(path, "_"), ".")
	if len(labels) < 3 || labels[0] != "tests" {
		return false
	}
	return slices.ContainsFunc(labels[2:], func(label string) bool {
		switch label {
		case "arguments", "argumentsText", "body", "bodyText", "headers", "result", "data":
			return true
		}
		return false
	})
}
