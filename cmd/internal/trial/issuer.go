package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// tokenURLs returns the URLs of the token endpoints of bundle.
func tokenURLs(bundle *irv1.Content) map[string]bool {
	all := map[string]bool{}
	for _, b := range bundle.Bindings {
		if c := b.GetUpstream().GetCredential().GetOauth2(); c != nil {
			origin := upstream.TokenOriginOf(c)
			all[origin.Scheme+"://"+origin.Authority+c.GetPath()] = true
		}
	}
	return all
}

// issue is a token endpoint: a client with the secret "secret:x" gets the token
// "token:x".
func issue(r *http.Request) (*http.Response, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	client := r.PostForm.Get("client_secret")
	if _, password, ok := r.BasicAuth(); ok {
		client, _ = url.QueryUnescape(password) // (RFC 6749, section 2.3.1)
	}
	answer, err := json.Marshal(map[string]string{"access_token": "token:" + strings.TrimPrefix(client, "secret:"), "token_type": "Bearer"})
	if err != nil {
		return nil, fmt.Errorf("played: %w", err)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(answer))), ContentLength: int64(len(answer)), Request: r,
	}, nil
}
