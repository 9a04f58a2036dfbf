package compile

import (
	"regexp"
	"strings"

	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// conceal takes values out of what is said of the data of a test: a test of a payment
// has card numbers in it, and diagnostics end up in the logs of builds. Where the
// author wrote the value is said all the same.
func conceal(d *sourcev1.Diagnostic) {
	if repeatsValues(d.GetCode()) && isData(d) {
		d.Message = withoutValues(d.GetMessage())
	}
}

// withoutValues returns a message of CUE without the values that it repeats.
func withoutValues(message string) string { return literals.ReplaceAllStringFunc(message, concealed) }

// concealed returns what stands for a match of literals: operators, which CUE writes in
// quotes, and apostrophes are no values.
func concealed(s string) string {
	if strings.Trim(s, "'+-*/<>=!~&|") == "" || strings.IndexByte(s, '\'') == 1 && len(s) == 3 {
		return s
	}
	return "..."
}

// repeatsValues reports whether the messages with a code have values in them; others
// name fields.
func repeatsValues(code string) bool {
	switch code {
	case "cue", "bad-value", "bad-enum", "unknown-resource", "ambiguous-resource":
		return true
	}
	for _, form := range nouns {
		if form.code == code {
			return true
		}
	}
	return false
}

var (
	quotedLabel = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	literals    = regexp.MustCompile(`[A-Za-z]'[a-z]|#+".*?"#+|""".*?"""|'''.*?'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|[0-9][0-9.eE+-]*`)
)

// isData reports whether d is about what callers and upstreams send in a test, and what
// comes of that: all of it but what names parts of the module or says how an exchange
// ends; or about a field of a test file that tests may take it from.
func isData(d *sourcev1.Diagnostic) bool {
	labels := strings.Split(quotedLabel.ReplaceAllString(d.GetPath(), "_"), ".")
	if labels[0] != "tests" {
		return isTest(d.GetPosition().GetFile())
	}
	labels = labels[min(2, len(labels)):]
	if len(labels) > 2 && labels[0] == "exchanges" {
		labels = labels[2:]
	}
	switch strings.Join(labels, ".") {
	case "binding", "tool", "prompt", "completion.prompt", "completion.template", "response.status", "response.failure", "error.code":
		return false
	}
	return len(labels) == 0 || labels[0] != "checks"
}
