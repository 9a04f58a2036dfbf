package serve

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// TestCompletion has clients of both eras ask what there is to fill in.
func TestCompletion(t *testing.T) {
	proof.Ran(t)
	var log bytes.Buffer
	_, url := serving(t, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, librarytest.Prompting(upstream(t, librarytest.Upstream())))
	tests := []struct {
		name             string
		prompt, argument string
		typed            string
		want             []string
	}{
		{"listed values", "recommend", "genre", "NOV", []string{"Novel", "novella"}},
		{"all of them", "recommend", "genre", "", []string{"Novel", "Poetry", "novella"}},
		{"none of them", "recommend", "genre", "x", nil},
		{"a tool's", "recommend", "title", "Sense", []string{"Sense", "Emma"}},
		{"a tool that fails", "recommend", "title", "trouble", nil},
		{"a tool without values", "recommend", "title", "nonsense", nil},
		{"nothing", "recommend", "author", "A", nil},
		{"an unknown argument", "recommend", "autor", "A", nil},
	}
	for _, era := range eras {
		session := connect(t, url+"/library", era, nil)
		for _, tt := range tests {
			t.Run(era+" "+tt.name, func(t *testing.T) {
				got, err := session.Complete(t.Context(), &mcp.CompleteParams{
					Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: tt.prompt},
					Argument: mcp.CompleteParamsArgument{Name: tt.argument, Value: tt.typed},
				})
				if err != nil {
					t.Fatal(err)
				}
				if c := got.Completion; !slices.Equal(c.Values, tt.want) || c.Total != len(tt.want) || c.HasMore {
					t.Errorf("completion is %+v, want %q", c, tt.want)
				}
			})
		}
	}
	if n := strings.Count(log.String(), "tool=find_books class=upstream_error status=403"); n != len(eras) {
		t.Errorf("the log says %d times that the call failed:\n%s", n, log.String())
	}
}

// TestCompletionErrors has requests for completions of what there is not.
func TestCompletionErrors(t *testing.T) {
	proof.Ran(t)
	_, url := serving(t, Config{}, librarytest.Prompting("127.0.0.1:9"))
	for params, want := range map[string]string{
		`{"ref":{"type":"ref/prompt","name":"recommends"},"argument":{"name":"genre","value":""}}`:      `"code":-32602,"message":"unknown prompt \"recommends\""`,
		`{"ref":{"type":"ref/resource","uri":"book://{id}"},"argument":{"name":"id","value":"secret"}}`: `"code":-32602,"message":"there is no resource template of this URI"`,
		`{"argument":{"name":"genre","value":""}}`:                                                      `"code":-32602,"message":"ref is missing"`,
		`{"ref":{"type":"ref/secret"},"argument":{"name":"genre","value":""}}`:                          `"code":-32602,"message":"params are not those that completion/complete takes"`,
	} {
		for _, era := range eras {
			if _, body := post(t, url+"/library", era, "completion/complete", params); !strings.Contains(body, want) {
				t.Errorf("%s: answer to %s is %s", era, params, body)
			}
		}
	}
}
