package call_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// formSchema is the input schema of the tools whose arguments have every form there
// is.
const formSchema = `{
  "type": "object",
  "properties": {
    "limit": {"type": "integer", "maximum": 100},
    "tags": {"type": "array", "items": {"type": ["object", "string"], "required": ["name"]}}
  }
}`

// formTools returns a tool whose arguments go into path, query and headers, and one
// whose arguments make up the body.
func formTools() []*irv1.Tool {
	const str, num = irv1.ArgumentType_ARGUMENT_TYPE_STRING, irv1.ArgumentType_ARGUMENT_TYPE_NUMBER
	const integer, array = irv1.ArgumentType_ARGUMENT_TYPE_INTEGER, irv1.ArgumentType_ARGUMENT_TYPE_ARRAY
	const object = irv1.ArgumentType_ARGUMENT_TYPE_OBJECT
	const path, query, header = irv1.ArgumentIn_ARGUMENT_IN_PATH, irv1.ArgumentIn_ARGUMENT_IN_QUERY, irv1.ArgumentIn_ARGUMENT_IN_HEADER
	const body = irv1.ArgumentIn_ARGUMENT_IN_BODY
	id := &irv1.Argument{Name: "id", In: path, Type: str, Required: true}
	books := &irv1.PathPart{Kind: &irv1.PathPart_Literal{Literal: "/books/"}}
	argument := func(name string) *irv1.PathPart {
		return &irv1.PathPart{Kind: &irv1.PathPart_Argument{Argument: name}}
	}
	list := tool("list_books", irv1.Method_METHOD_GET, nil, nil,
		[]*irv1.PathPart{books, argument("id"), {Kind: &irv1.PathPart_Literal{Literal: "/"}}, argument("pages")},
		&irv1.Argument{Name: "client", In: header, Type: str, WireName: "X-Client-Name"},
		&irv1.Argument{Name: "filter", In: query, Type: object},
		&irv1.Argument{Name: "formats", In: header, Type: array, Items: str.Enum(), WireName: "X-Formats"},
		id,
		&irv1.Argument{Name: "limit", In: query, Type: integer, Checked: true},
		&irv1.Argument{Name: "pages", In: path, Type: array, Items: integer.Enum(), Required: true},
		&irv1.Argument{Name: "sort", In: query, Type: array, Items: str.Enum(), Style: irv1.ArrayStyle_ARRAY_STYLE_CSV.Enum(), WireName: "sort[by]"},
		&irv1.Argument{Name: "tags", In: query, Type: array, Items: str.Enum(), Style: irv1.ArrayStyle_ARRAY_STYLE_EXPLODE.Enum(), Checked: true},
	)
	patch := tool("patch_book", irv1.Method_METHOD_PATCH, nil, nil, []*irv1.PathPart{books, argument("id")},
		&irv1.Argument{Name: "cover", In: body, Type: object, Place: []string{"cover"}},
		id,
		&irv1.Argument{Name: "owner", In: body, Type: str, Place: []string{"owner", "log\"in"}},
		&irv1.Argument{Name: "prices", In: body, Type: array, Items: num.Enum(), Place: []string{"prices"}},
		&irv1.Argument{Name: "since", In: body, Type: integer, Place: []string{"owner", "since", "year"}},
		&irv1.Argument{Name: "subtitle", In: body, Type: str, Place: []string{"subtitle"}, Nullable: true},
		&irv1.Argument{Name: "tags", In: body, Type: irv1.ArgumentType_ARGUMENT_TYPE_ANY, Place: []string{"tags"}, Checked: true},
		&irv1.Argument{Name: "title", In: body, Type: str, Place: []string{"title"}},
		&irv1.Argument{Name: "used", In: body, Type: irv1.ArgumentType_ARGUMENT_TYPE_BOOLEAN, Place: []string{"used"}},
	)
	read := tool("read_cover", irv1.Method_METHOD_GET, nil, nil, []*irv1.PathPart{books, argument("id")}, id)
	read.Result, read.ResultMeta = irv1.ResultMode_RESULT_MODE_MCP, resultMeta()
	read.Produces = []*irv1.MediaRange{
		{Kind: irv1.PartKind_PART_KIND_IMAGE, Subtype: "png"}, {Kind: irv1.PartKind_PART_KIND_IMAGE}, {Kind: irv1.PartKind_PART_KIND_AUDIO, Subtype: "mpeg"},
		{Kind: irv1.PartKind_PART_KIND_TEXT},
	}
	read.ResultMeta = append(read.ResultMeta, &irv1.ResultMeta{Key: "example.com/whole", Source: &irv1.ResultMeta_Body{Body: &irv1.Pointer{}}})
	read.Content, read.Moved = coverParts(), []*irv1.Pointer{pointer("cover", "data"), pointer("notes")}
	relay := tool("relay_book", irv1.Method_METHOD_DELETE, nil, nil, []*irv1.PathPart{books, argument("id")}, id)
	relay.Result = irv1.ResultMode_RESULT_MODE_RAW
	digest := irv1.DigestOf([]byte(formSchema))
	list.InputSchema, patch.InputSchema = digest[:], digest[:]
	return []*irv1.Tool{list, patch, read, relay}
}

func resultMeta() []*irv1.ResultMeta {
	return []*irv1.ResultMeta{
		{Key: "example.com/id", Source: &irv1.ResultMeta_Header{Header: "Request-Id"}},
		{Key: "example.com/pages", Source: &irv1.ResultMeta_Header{Header: "X-Pages"}},
	}
}

func TestForms(t *testing.T) {
	tests := []struct {
		name string
		args string
		want string
	}{
		{"array of the path", `{"id":"b1","pages":[1,2,30]}`, "GET /v1/books/b1/1,2,30"},
		{"comma in the path", `{"id":"a,b","pages":[1]}`, "GET /v1/books/a%2Cb/1"},
		{"explode", `{"id":"b","pages":[1],"tags":["a","b c","d&e=f,g"]}`, "GET /v1/books/b/1?tags=a&tags=b+c&tags=d%26e%3Df%2Cg"},
		{"csv under another name", `{"id":"b","pages":[1],"sort":["a","b c","d,e"]}`, "GET /v1/books/b/1?sort%5Bby%5D=a,b+c,d%2Ce"},
		{"empty text in an array", `{"id":"b","pages":[1],"sort":["",""],"tags":[""]}`, "GET /v1/books/b/1?sort%5Bby%5D=,&tags="},
		{"empty arrays and object", `{"id":"b","pages":[1],"sort":[],"tags":[],"filter":{},"formats":[]}`, "GET /v1/books/b/1"},
		{"object", `{"id":"b","pages":[1],"filter":{"z":1.50,"a b":"x&y","on":true,"off":null}}`, "GET /v1/books/b/1?filter%5Bz%5D=1.50&filter%5Ba+b%5D=x%26y&filter%5Bon%5D=true"},
		{"null is absent", `{"id":"b","pages":[1],"tags":null,"filter":null,"limit":null,"client":null}`, "GET /v1/books/b/1"},
		{"number as written", `{"id":"b","pages":[0],"limit":100}`, "GET /v1/books/b/0?limit=100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			if o := s.do(t, "list_books", tt.args); o.Class != call.OK {
				t.Fatalf("%s: %s, %v", o.Class, show(o.Error), o.Err)
			}
			if r := s.last(t, 1); r.Method+" "+r.RequestURI != tt.want {
				t.Errorf("arrived as %s %s, want %s", r.Method, r.RequestURI, tt.want)
			}
		})
	}
}

func TestHeaderArguments(t *testing.T) {
	s := serve(t, nil)
	s.do(t, "list_books", `{"id":"b","pages":[1],"client":"me; you","formats":["a b","c"]}`)
	want := map[string]string{
		"Accept": "application/json", "Accept-Encoding": "identity", "Authorization": "Bearer s3cr3t", "User-Agent": "bindery", "X-Client": "tests",
	}
	h := s.last(t, 1).Header
	want["X-Client-Name"], want["X-Formats"] = "me; you", "a b,c"
	sameHeaders(t, h, want)
}

// The body has the arguments' bytes, each in its place, and nothing else.
func TestAssembledBody(t *testing.T) {
	tests := []struct {
		name string
		args string
		want string
	}{
		{"as written", `{"id":"b","title": "\u0041\/" ,"prices":[ 1.0,12345678901234567890 , 1E2],"cover":{ "a" :null}}`,
			`{"cover":{ "a" :null},"prices":[ 1.0,12345678901234567890 , 1E2],"title":"\u0041\/"}`},
		{"nested", `{"id":"b","owner":"me","since":1999}`, `{"owner":{"log\"in":"me","since":{"year":1999}}}`},
		{"nothing around what is absent", `{"id":"b","since":1999}`, `{"owner":{"since":{"year":1999}}}`},
		{"null is kept", `{"id":"b","subtitle":null,"tags":[{"name":null}]}`, `{"subtitle":null,"tags":[{"name":null}]}`},
		{"false and zero are kept", `{"id":"b","used":false,"title":"","prices":[]}`, `{"prices":[],"title":"","used":false}`},
		{"none given", `{"id":"b","other":1}`, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			if o := s.do(t, "patch_book", tt.args); o.Class != call.OK {
				t.Fatalf("%s: %s, %v", o.Class, show(o.Error), o.Err)
			}
			r := s.last(t, 1)
			if r.Method != "PATCH" || r.body != tt.want || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s with %s (%s), want %s", r.Method, r.body, r.Header.Get("Content-Type"), tt.want)
			}
		})
	}
}

func TestInvalidArguments(t *testing.T) {
	const secret = "4111111111111111"
	tests := []struct {
		name string
		tool string
		args string
		want string
	}{
		{"array expected", "list_books", `{"id":"b","pages":1}`, `argument "pages" must be an array`},
		{"array expected in the query", "list_books", `{"id":"b","pages":[1],"tags":"` + secret + `"}`, `argument "tags" must be an array`},
		{"element", "list_books", `{"id":"b","pages":[1,"` + secret + `"]}`, `each element of argument "pages" must be an integer without fraction and exponent`},
		{"null element", "list_books", `{"id":"b","pages":[1],"sort":[null]}`, `each element of argument "sort" must be a string`},
		{"empty path", "list_books", `{"id":"b","pages":[]}`, `argument "pages" must not be empty`},
		{"object expected", "list_books", `{"id":"b","pages":[1],"filter":["` + secret + `"]}`, `argument "filter" must be an object`},
		{"deep object", "list_books", `{"id":"b","pages":[1],"filter":{"a":{"` + secret + `":1}}}`, `each member of argument "filter" must be a string, a number or a boolean`},
		{"brackets in a member", "list_books", `{"id":"b","pages":[1],"filter":{"` + secret + `][b":1}}`, `argument "filter" has a member whose name cannot be in a query`},
		{"member without name", "list_books", `{"id":"b","pages":[1],"filter":{"":1}}`, `argument "filter" has a member whose name cannot be in a query`},
		{"schema", "list_books", `{"id":"b","pages":[1],"limit":4111111111}`, `argument "limit": Value must be at most 100`},
		{"schema, deep inside", "patch_book", `{"id":"b","tags":["x",{"` + secret + `":1}]}`, `argument "tags" at $[1].name: Missing required field: name`},
		{"schema and null", "patch_book", `{"id":"b","tags":null}`, `argument "tags": Expected array, got null`},
		{"null in the body", "patch_book", `{"id":"b","title":null}`, `argument "title" must be a string`},
		{"object in the body", "patch_book", `{"id":"b","cover":"` + secret + `"}`, `argument "cover" must be an object`},
		{"boolean in the body", "patch_book", `{"id":"b","used":"` + secret + `"}`, `argument "used" must be true or false`},
		{"too long", "patch_book", `{"id":"b","title":"` + strings.Repeat("x", 1<<20) + `"}`, `arguments of the body are longer than 1048576 bytes`},
		{"payload", "patch_book", `{"id":"b","payload":{}}`, `argument "payload" is not one of this tool`},
		{"empty header", "list_books", `{"id":"b","pages":[1],"client":""}`, `argument "client" must not be empty`},
		{"line break in a header", "list_books", `{"id":"b","pages":[1],"client":"a\r\nX: ` + secret + `"}`, `argument "client" must be printable ASCII without spaces at its ends`},
		{"long header", "list_books", `{"id":"b","pages":[1],"client":"` + strings.Repeat("x", 8<<10+1) + `"}`, `argument "client" is longer than 8192 bytes`},
		{"comma in a header", "list_books", `{"id":"b","pages":[1],"formats":["a,` + secret + `"]}`, `argument "formats" has an element with a comma`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil)
			o := s.do(t, tt.tool, tt.args)
			if o.Class != call.InvalidParams || show(o.Error) != "-32602 "+tt.want+" " {
				t.Errorf("outcome is %s, %s; want -32602 %s", o.Class, show(o.Error), tt.want)
			}
			s.last(t, 0)
		})
	}
}

// holdQuery holds that raw, taken apart as a service would, says what args say.
func holdQuery(t *testing.T, tool *table.Tool, args []byte, raw string) {
	t.Helper()
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(args, &given); err != nil {
		t.Fatalf("encoding/json refuses the arguments: %v", err)
	}
	var want []string
	for _, a := range tool.Args {
		if a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_QUERY {
			want = append(want, said(a, given[a.GetName()])...)
		}
	}
	var got []string
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		parts := []string{value}
		if decode(t, name) == "sort[by]" {
			parts = strings.Split(value, ",")
		}
		for _, part := range parts {
			if pair != "" {
				got = append(got, decode(t, name)+"="+decode(t, part))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("query %q says %q, want %q", raw, got, want)
	}
}

func decode(t *testing.T, s string) string {
	t.Helper()
	plain, err := url.QueryUnescape(s)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// said returns the pairs of name and value that an argument of the query stands for.
func said(a *table.Argument, raw json.RawMessage) []string {
	var values []json.RawMessage
	switch {
	case raw == nil || string(raw) == "null":
		return nil
	case a.GetType() == irv1.ArgumentType_ARGUMENT_TYPE_OBJECT:
		d := json.NewDecoder(strings.NewReader(string(raw)))
		_, _ = d.Token()
		var pairs []string
		for d.More() {
			name, _ := d.Token()
			var value json.RawMessage
			_ = d.Decode(&value)
			if string(value) != "null" {
				pairs = append(pairs, a.Parameter()+"["+name.(string)+"]="+plain(value))
			}
		}
		return pairs
	case a.GetType() == irv1.ArgumentType_ARGUMENT_TYPE_ARRAY:
		_ = json.Unmarshal(raw, &values)
	default:
		values = []json.RawMessage{raw}
	}
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, a.Parameter()+"="+plain(v))
	}
	return pairs
}

// plain returns what a string says, and other scalars as they are written.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// holdAssembled holds that body has the bytes of members in their places, and
// nothing else.
func holdAssembled(t *testing.T, tool *table.Tool, members map[string]json.RawMessage, body []byte) {
	t.Helper()
	left := len(leaves(t, body, tool.Body))
	for _, a := range tool.Args {
		want, given := members[a.GetName()]
		if a.GetIn() != irv1.ArgumentIn_ARGUMENT_IN_BODY || !given {
			continue
		}
		left--
		got := json.RawMessage(body)
		for _, name := range a.GetPlace() {
			object := map[string]json.RawMessage{}
			if err := json.Unmarshal(got, &object); err != nil {
				t.Fatalf("body is %q: %v", body, err)
			}
			got = object[name]
		}
		if string(got) != string(want) {
			t.Errorf("%s is %q in the body, %q was given", a.GetName(), got, want)
		}
	}
	if left != 0 {
		t.Errorf("body %q has %d members that nobody gave", body, left)
	}
}

// leaves returns the members of body that are no object of fields.
func leaves(t *testing.T, body []byte, fields []*table.Field) []json.RawMessage {
	t.Helper()
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &object); err != nil {
		t.Fatalf("body is %q: %v", body, err)
	}
	var all []json.RawMessage
	for name, raw := range object {
		i := slices.IndexFunc(fields, func(f *table.Field) bool { return plain(json.RawMessage(f.Name)) == name })
		if i >= 0 && fields[i].Argument == "" {
			all = append(all, leaves(t, raw, fields[i].Fields)...)
		} else {
			all = append(all, raw)
		}
	}
	return all
}
