package call

import (
	"fmt"
	"net/http"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
)

// MaxDepth is how deep arguments may be nested; see [rawjson.Parse].
const MaxDepth = 64

// invalid is arguments that cannot be sent. Its text names the one that is wrong,
// never its value.
type invalid string

func (i invalid) Error() string { return string(i) }

func invalidf(format string, args ...any) error { return invalid(fmt.Sprintf(format, args...)) }

// arguments are those of a call, by the role they have; nil where absent.
type arguments struct {
	all     rawjson.Value // an object
	meta    rawjson.Value
	payload rawjson.Value
	inbound http.Header // what they came with, see Request
	trace   trace
	// hints is the "_meta" that they came with, and locale what is negotiated by it; ""
	// for none.
	hints  rawjson.Value
	locale string
	// generated takes what is made up of meta, by field, and is asked before; nil: nobody
	// asks. fork is as in Request.
	generated map[string]string
	fork      []byte
}

// parse takes the arguments of r apart. Arguments that a tool does not know are ignored, as MCP
// clients expect: the schema that they are shown is open.
func parse(r Request) (arguments, error) {
	args := r.Arguments
	if args == nil {
		args = []byte("{}")
	}
	v := rawjson.Value(args)
	if !r.Parsed {
		var err error
		if v, err = rawjson.Parse(args, MaxDepth); err != nil {
			return arguments{}, invalidf("arguments are not valid JSON: %v", err)
		}
	}
	if v.Kind() != rawjson.Object {
		return arguments{}, invalidf("arguments must be an object, not %s", v.Kind())
	}
	return arguments{all: v, meta: v.Member("meta"), payload: v.Member("payload"), inbound: r.Header, trace: traceOf(r), fork: r.Fork}, nil
}

// prepare makes the request that a stands for, without the credential. A payload
// that breaks its schema and is sent all the same is noted. The error is a
// [*schema.Violation] of the payload, or an invalid.
func prepare(t *table.Tool, a arguments) (r *upstream.Request, noted []Breach, err error) {
	header := newHead(t)
	if t.Accept != "" {
		header.set("Accept", t.Accept)
	}
	if err := setMeta(header, t, a); err != nil {
		return nil, nil, err
	}
	given, err := valuesOf(t, a.all)
	if err != nil {
		return nil, nil, err
	}
	if err := setHeaders(header, t, given); err != nil {
		return nil, nil, err
	}
	to, err := target(t, given)
	if err != nil {
		return nil, nil, err
	}
	body, noted, err := body(t, a.payload, given)
	if err != nil {
		return nil, nil, err
	}
	setContentType(header, body)
	a.trace.set(header.Header)
	return &upstream.Request{
		Method:  t.Method,
		Target:  to,
		Header:  header.Header,
		Body:    body,
		Timeout: t.Timeout,
		MaxBody: t.Service.MaxResponse,
	}, noted, nil
}

// body returns the bytes to send: the payload, or what the arguments given make up;
// nil for none.
func body(t *table.Tool, v rawjson.Value, given values) (body []byte, noted []Breach, err error) {
	body, noted, err = payload(t, v)
	if err == nil && t.Body != nil {
		body, err = assemble(t, given)
	}
	return body, noted, err
}

// setContentType describes body: as the binding's constant header has it, or as
// JSON. What has no body has no type.
func setContentType(header *head, body []byte) {
	if body == nil {
		header.Del("Content-Type")
	} else if header.Get("Content-Type") == "" {
		header.set("Content-Type", "application/json")
	}
}
