package complete_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/complete"
	"github.com/bindery-dev/bindery/dataplane/fill"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// completion returns what is offered for an argument of the library's prompt recommend,
// whose upstream is f.
func completion(t *testing.T, argument string, f roundTripper, values ...string) *table.Completion {
	t.Helper()
	b := librarytest.Prompting("library.example")
	if values != nil {
		b.Prompts[1].Arguments[1].Completion = &irv1.Completion{Kind: &irv1.Completion_Values{Values: &irv1.Values{Values: values}}}
	}
	tab, err := table.Build(librarytest.Content(t, b), &discoveryv1.Generation{}, nil, table.Deps{
		Secrets:   secret.New("", librarytest.Env),
		Transport: func(upstream.Origin) http.RoundTripper { return f },
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab.Endpoint(librarytest.Endpoint).Prompt("recommend").Completion(argument)
}

func TestMatch(t *testing.T) {
	var many []string
	for i := range 250 {
		many = append(many, fmt.Sprintf("V%03d", i))
	}
	tests := []struct {
		name   string
		values []string
		typed  string
		want   string
	}{
		{"in the author's order", []string{"b", "a"}, "", `"completion":{"values":["b","a"],"total":2,"hasMore":false}`},
		{"either case", []string{"Ärger", "ärmel", "Arm"}, "äR", `"completion":{"values":["Ärger","ärmel"],"total":2,"hasMore":false}`},
		{"not in the middle", []string{"ab"}, "b", `"completion":{"values":[],"total":0,"hasMore":false}`},
		{"quotes", []string{`"`}, `"`, `"completion":{"values":["\""],"total":1,"hasMore":false}`},
		{"a hundred", many[:100], "v", ``},
		{"more", many, "v", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := complete.Match(completion(t, "genre", nil, tt.values...), tt.typed)
			if got := string(o.Append(nil)); tt.want != "" && got != tt.want {
				t.Errorf("offer is %s, want %s", got, tt.want)
			}
			if o.Total != len(tt.values) && tt.want == "" || len(o.Values) != min(o.Total, complete.MaxValues) {
				t.Errorf("%d of %d values are offered", len(o.Values), o.Total)
			}
		})
	}
	last := complete.Match(completion(t, "genre", nil, many...), "").Append(nil)
	if want := `"V099"],"total":250,"hasMore":true}`; string(last[len(last)-len(want):]) != want {
		t.Errorf("offer is %s", last)
	}
}

func TestAsk(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"texts", `{"books":[{"title":"a"},{"title":"b"},{"title":7},{}]}`, `"values":["a","b"],"total":2`},
		{"lists", `{"books":{"x":{"title":["a",null,"b"]},"y":{"title":["c"]}}}`, `"values":["a","b","c"],"total":3`},
		{"nothing there", `{"title":"a"}`, `"values":[],"total":0`},
		{"no JSON", `<html>`, `"values":[],"total":0`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var query string
			c := completion(t, "title", func(r *http.Request) (*http.Response, error) {
				query = r.URL.RawQuery
				w := httptest.NewRecorder()
				_, _ = io.WriteString(w, tt.body)
				return w.Result(), nil
			})
			o, _ := complete.Ask(t.Context(), c, fill.Values{"title": "a&b", "genre": "x"}, call.Request{})
			if got := string(o.Append(nil)); got != `"completion":{`+tt.want+`,"hasMore":false}` || query != "q=a%26b" {
				t.Errorf("offer is %s, the query was %s", got, query)
			}
		})
	}
}

// TestPatience has a tool that takes longer than anyone waits.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := completion(t, "title", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})
		began := time.Now()
		o, done := complete.Ask(t.Context(), c, fill.Values{"title": ""}, call.Request{})
		if took := time.Since(began); took != complete.Patience || o.Total != 0 || done.Error == nil {
			t.Errorf("after %s: %+v, %+v", took, o, done)
		}
	})
}
