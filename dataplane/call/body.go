package call

import (
	"github.com/bindery-dev/bindery/dataplane/table"
)

// assemble returns the object that the arguments given make up in the body of t:
// their bytes as they came, no member for what is absent. With none given it is {},
// since a service that takes an object gets one.
func assemble(t *table.Tool, given values) ([]byte, error) {
	body, _ := appendObject(nil, t.Body, given)
	if int64(len(body)) > t.Service.MaxRequest {
		return nil, invalidf("arguments of the body are longer than %d bytes", t.Service.MaxRequest)
	}
	return body, nil
}

// appendObject appends the object of those of fields that are given, and reports
// whether there is one.
func appendObject(dst []byte, fields []*table.Field, given values) (object []byte, any bool) {
	dst = append(dst, '{')
	for _, f := range fields {
		start := len(dst)
		if any {
			dst = append(dst, ',')
		}
		dst = append(append(dst, f.Name...), ':')
		var there bool
		if dst, there = appendField(dst, f, given); !there {
			dst = dst[:start]
			continue
		}
		any = true
	}
	return append(dst, '}'), any
}

func appendField(dst []byte, f *table.Field, given values) ([]byte, bool) {
	if f.Argument == "" {
		return appendObject(dst, f.Fields, given)
	}
	v, there := given[f.Argument]
	return append(dst, v...), there
}
