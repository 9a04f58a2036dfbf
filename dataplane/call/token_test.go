package call_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// bouncer is a token endpoint and, elsewhere, an upstream that lets in the one token
// that is valid now.
type bouncer struct {
	mu       sync.Mutex
	valid    string // token
	refuse   int    // the status that the token endpoint answers with; 0: it issues valid
	hang     bool   // the token endpoint does not answer
	fetches  int
	admitted int
	rejected int
}

func (b *bouncer) roundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := httptest.NewRecorder()
	switch token := r.URL.Host == "login.example"; {
	case token && b.hang:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case token && b.refuse != 0:
		b.fetches++
		w.WriteHeader(b.refuse)
		_, _ = io.WriteString(w, `{"kind":"s3cr3t","message":"s3cr3t"}`)
	case token:
		b.fetches++
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"`+b.valid+`"}`)
	case r.Header.Get("Authorization") != "Bearer "+b.valid:
		b.rejected++
		w.WriteHeader(401)
	default:
		b.admitted++
		_, _ = io.WriteString(w, `{"id":1}`)
	}
	return w.Result(), nil
}

// guarded returns the tool get_book of a library that takes tokens of b.
func (b *bouncer) guarded(t *testing.T, change func(*irv1.Binding)) *table.Tool {
	source := library("http://library.example/v1")
	if change != nil {
		change(source)
	}
	source.Upstream.Credential = &irv1.Credential{Kind: &irv1.Credential_Oauth2{Oauth2: &irv1.OAuth2Credential{
		Scheme: irv1.Scheme_SCHEME_HTTPS, Authority: "login.example", ClientId: "node", Secret: "client", ClientAuth: irv1.ClientAuth_CLIENT_AUTH_BODY,
	}}}
	deps := transport(b.roundTrip)
	deps.Secrets = secret.New("", func(string) (string, bool) { return "s3cr3t", true })
	return build(t, source, deps).Endpoint("/mcp").Tool("get_book")
}

// A token is fetched once, and anew after the upstream has answered 401, which the
// caller gets to see.
func TestToken(t *testing.T) {
	b := &bouncer{valid: "t1"}
	tool := b.guarded(t, nil)
	for i, want := range []call.Class{call.OK, call.OK, call.UpstreamError, call.OK} {
		if i == 2 {
			b.valid = "t2"
		}
		if o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook)}); o.Class != want {
			t.Errorf("call %d is %s: %v", i, o.Class, o.Err)
		}
	}
	if b.fetches != 2 || b.admitted != 3 || b.rejected != 1 {
		t.Errorf("%d tokens fetched, %d requests admitted, %d rejected", b.fetches, b.admitted, b.rejected)
	}
}

// A rule that has a 401 sent again sends the next token.
func TestTokenOfARetry(t *testing.T) {
	b := &bouncer{valid: "t1"}
	tool := b.guarded(t, func(source *irv1.Binding) {
		lend(source)
		source.Errors.Rules = append(source.Errors.Rules, &irv1.ErrorRule{
			Name: "stale", Retry: true, Conditions: []*irv1.Condition{{Kind: &irv1.Condition_Status{Status: 401}}},
		})
	})
	for i, token := range []string{"t1", "t2"} {
		b.valid = token
		o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook)})
		if o.Class != call.OK || o.Attempts != i+1 {
			t.Errorf("call %d is %s after %d attempts: %v", i, o.Class, o.Attempts, o.Err)
		}
	}
	b.valid, b.refuse = "t3", 503
	o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook)})
	if o.Class != call.Unreachable || o.Attempts != 1 || len(o.Retries) > 0 {
		t.Errorf("without a next token it is %s after %d attempts for %q", o.Class, o.Attempts, o.Retries)
	}
}

// Without a token the upstream is not called, and the caller gets what it gets when
// the upstream is as the token endpoint is.
func TestNoToken(t *testing.T) {
	tests := []struct {
		name    string
		bouncer *bouncer
		class   call.Class
		kind    error
	}{
		{"refused", &bouncer{refuse: 401}, call.Unreachable, upstream.ErrUnreachable},
		{"timeout", &bouncer{hang: true}, call.Timeout, upstream.ErrTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool, began := tt.bouncer.guarded(t, nil), time.Now()
				o := call.Do(t.Context(), tool, call.Request{Arguments: []byte(getBook)})
				if o.Class != tt.class || show(o.Error) != busy || !errors.Is(o.Err, tt.kind) || o.Status != 0 {
					t.Errorf("outcome is %s, %s, %v", o.Class, show(o.Error), o.Err)
				}
				if took := time.Since(began); took > tool.Timeout {
					t.Errorf("it took %s", took)
				}
				if tt.bouncer.admitted+tt.bouncer.rejected > 0 {
					t.Error("the upstream was called")
				}
				time.Sleep(time.Minute) // the fetch ends, too
			})
		})
	}
}
