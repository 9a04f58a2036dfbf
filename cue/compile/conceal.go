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
	if repeatsValues(d.GetCode()) && isData(d) {
		d.Message = literals.ReplaceAllString(d.GetMessage(), "...")
	}
}

// repeatsValues reports whether the messages with a code have values in them; others
// name fields.
func repeatsValues(code string) bool {
	return code == "cue" || code == "bad-value" || code == "bad-enum"
}

var (
	quotedLabel = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	literals    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[0-9][0-9.eE+-]*`)
)

// isData reports whether d is about what callers and upstreams send in a test:
// arguments, bodies, headers and what comes of them; or about a field of a test file
// that tests may take it from.
func isData(d *sourcev1.Diagnostic) bool {
	labels := strings.Split(quotedLabel.ReplaceAllString(d.GetPath(), "_"), ".")
	if labels[0] != "tests" {
		return isTest(d.GetPosition().GetFile())
	}
	return slices.ContainsFunc(labels[min(2, len(labels)):], func(label string) bool {
		switch label {
		case "arguments", "argumentsText", "body", "bodyText", "headers", "meta", "result", "data":
			return true
		}
		return false
	})
}
