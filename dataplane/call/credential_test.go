package call_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// An upstream that repeats the secret of the node, out of whatever it came in, does not
// tell the caller.
func TestCredentialIsNotRepeated(t *testing.T) {
	basic := &irv1.Credential{Kind: &irv1.Credential_Basic{Basic: &irv1.BasicCredential{User: "maps", Secret: "merchant"}}}
	header := func(name string) *irv1.Credential {
		return &irv1.Credential{Kind: &irv1.Credential_Header{Header: &irv1.HeaderCredential{Name: name, Secret: "merchant"}}}
	}
	for _, tt := range []struct {
		name, secret string
		credential   *irv1.Credential
		repeated     string
	}{
		{"password", "Tr0ub4dor-3", basic, "Tr0ub4dor-3"},
		{"user and password", "Tr0ub4dor-3", basic, "maps:Tr0ub4dor-3"},
		{"token behind a scheme", "Token Tr0ub4dor-3", header("Authorization"), "Tr0ub4dor-3"},
		{"value of a cookie", "lang=en; session=Tr0ub4dor-3", header("Cookie"), "Tr0ub4dor-3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprintf(w, `{"kind":"auth","message":"no entry for %s"}`, tt.repeated)
			})
			b := library(s.URL)
			b.Upstream.Credential = tt.credential
			deps := table.Deps{Secrets: secret.New("", func(string) (string, bool) { return tt.secret, true })}
			o := call.Do(context.Background(), build(t, b, deps).Endpoint("/mcp").Tool("add_book"),
				call.Request{Arguments: []byte(`{"meta":{"version":"v1"},"payload":{"title":"x","copies":1}}`)})
			if got := show(o.Error); strings.Contains(got, "Tr0ub4dor") || !strings.Contains(got, "no entry for [redacted]") {
				t.Errorf("the caller gets %s", got)
			}
		})
	}
}
