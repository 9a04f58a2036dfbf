package call

import (
	"net/url"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// maxTarget is the length, in bytes, of path and query together that servers can be
// expected to accept (RFC 9112, section 3).
const maxTarget = 8000

// target returns the escaped path and query that all, the object of arguments,
// stands for.
func target(t *table.Tool, all rawjson.Value) (string, error) {
	values := make(map[string]string, len(t.Args))
	for _, a := range t.Args {
		value, present, err := scalar(a, all.Member(a.GetName()))
		if err != nil {
			return "", err
		}
		if present {
			values[a.GetName()] = value
		}
	}
	below, err := path(t.Path, values)
	if err != nil {
		return "", err
	}
	to := t.Service.BasePath + below
	if q := query(t.Args, values); q != "" {
		to += "?" + q
	}
	if len(to) > maxTarget {
		return "", invalidf("arguments of path and query are longer than %d bytes", maxTarget)
	}
	return to, nil
}

// scalar returns the text of the argument a whose value is v. Null stands for an
// argument that is absent, which only an optional one can be.
func scalar(a *irv1.Argument, v rawjson.Value) (text string, present bool, err error) {
	if v.Kind() == rawjson.None || v.Kind() == rawjson.Null {
		if a.GetRequired() {
			return "", false, invalidf("argument %q is missing", a.GetName())
		}
		return "", false, nil
	}
	text, ok := string(v), false
	switch a.GetType() {
	case irv1.ArgumentType_ARGUMENT_TYPE_STRING:
		text, ok = v.Text()
	case irv1.ArgumentType_ARGUMENT_TYPE_INTEGER:
		ok = v.Kind() == rawjson.Number && !strings.ContainsAny(text, ".eE")
	case irv1.ArgumentType_ARGUMENT_TYPE_NUMBER:
		ok = v.Kind() == rawjson.Number
	case irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN:
		ok = v.Kind() == rawjson.Bool
	}
	if !ok {
		return "", false, invalidf("argument %q must be %s", a.GetName(), typeWord(a.GetType()))
	}
	return text, true, nil
}

func typeWord(t irv1.ArgumentType) string {
	switch t {
	case irv1.ArgumentType_ARGUMENT_TYPE_STRING:
		return "a string"
	case irv1.ArgumentType_ARGUMENT_TYPE_INTEGER:
		return "an integer without fraction and exponent"
	case irv1.ArgumentType_ARGUMENT_TYPE_NUMBER:
		return "a number"
	}
	return "true or false"
}

// path fills values into parts. Each value stays within its segment, and no segment
// becomes empty or leads elsewhere.
func path(parts []*irv1.PathPart, values map[string]string) (string, error) {
	var b strings.Builder
	last := ""
	for _, part := range parts {
		argument, ok := part.GetKind().(*irv1.PathPart_Argument)
		if !ok {
			b.WriteString(part.GetLiteral())
			continue
		}
		last = argument.Argument
		if values[last] == "" {
			return "", invalidf("argument %q must not be empty", last)
		}
		b.WriteString(url.PathEscape(values[last]))
	}
	for segment := range strings.SplitSeq(b.String(), "/") {
		if segment == "." || segment == ".." {
			return "", invalidf("argument %q cannot be a path segment", last)
		}
	}
	return b.String(), nil
}

// query returns the escaped query, in the order of args.
func query(args []*irv1.Argument, values map[string]string) string {
	var pairs []string
	for _, a := range args {
		value, present := values[a.GetName()]
		if present && a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_QUERY {
			pairs = append(pairs, url.QueryEscape(a.GetName())+"="+url.QueryEscape(value))
		}
	}
	return strings.Join(pairs, "&")
}
