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

// target returns the escaped path and query that the arguments given stand for.
func target(t *table.Tool, given values) (string, error) {
	below, err := path(t.Path, given)
	if err != nil {
		return "", err
	}
	to := t.Service.BasePath + below
	if q := query(t.Args, given); q != "" {
		to += "?" + q
	}
	if len(to) > maxTarget {
		return "", invalidf("arguments of path and query are longer than %d bytes", maxTarget)
	}
	return to, nil
}

// path fills the arguments given into parts. Each value stays within its segment,
// and no segment becomes empty or leads elsewhere.
func path(parts []*irv1.PathPart, given values) (string, error) {
	var b strings.Builder
	last := ""
	for _, part := range parts {
		argument, ok := part.GetKind().(*irv1.PathPart_Argument)
		if !ok {
			b.WriteString(part.GetLiteral())
			continue
		}
		last = argument.Argument
		value := commas(given[last], url.PathEscape)
		if value == "" {
			return "", invalidf("argument %q must not be empty", last)
		}
		b.WriteString(value)
	}
	for segment := range strings.SplitSeq(b.String(), "/") {
		if said, _ := url.PathUnescape(segment); said == "." || said == ".." {
			return "", invalidf("argument %q cannot be a path segment", last)
		}
	}
	return b.String(), nil
}

// commas returns the text of a scalar, or the texts of an array's elements with
// commas between them, each escaped, commas within it too.
func commas(v rawjson.Value, escape func(string) string) string {
	all := texts(v)
	for i, s := range all {
		all[i] = escape(s)
	}
	return strings.Join(all, ",")
}

// query returns the escaped query, in the order of args.
func query(args []*table.Argument, given values) string {
	var pairs []string
	for _, a := range args {
		if v := given[a.GetName()]; v != nil && a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_QUERY {
			pairs = appendPairs(pairs, a, v)
		}
	}
	return strings.Join(pairs, "&")
}

// appendPairs appends the pairs that say v: name=value, none for an empty array or
// object. A member of an object is name[member]=value with the brackets escaped, as
// RFC 3986 asks, and left out when it is null.
func appendPairs(pairs []string, a *table.Argument, v rawjson.Value) []string {
	name := a.Parameter()
	if v.Kind() == rawjson.Object {
		for member, m := range v.Members() {
			if m.Kind() != rawjson.Null {
				pairs = append(pairs, pair(name+"["+text(member)+"]", text(m)))
			}
		}
		return pairs
	}
	all := texts(v)
	if a.GetStyle() == irv1.ArrayStyle_ARRAY_STYLE_CSV && len(all) > 0 {
		return append(pairs, url.QueryEscape(name)+"="+commas(v, url.QueryEscape))
	}
	for _, s := range all {
		pairs = append(pairs, pair(name, s))
	}
	return pairs
}

func pair(name, value string) string { return url.QueryEscape(name) + "=" + url.QueryEscape(value) }
