package credential_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-dev/bindery/dataplane/credential"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const limit = 5 * time.Second

// An issuer is a token endpoint in memory. It numbers the tokens that it issues.
type issuer struct {
	mu     sync.Mutex
	got    []*http.Request // each with its form parsed
	answer func(n int, w http.ResponseWriter)
	hold   chan struct{} // nil: answers at once
}

// RoundTrip implements [http.RoundTripper].
func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	_ = r.ParseForm()
	i.mu.Lock()
	i.got = append(i.got, r)
	n := len(i.got)
	i.mu.Unlock()
	if i.hold != nil {
		select {
		case <-i.hold:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if i.answer == nil {
		fmt.Fprintf(w, `{"access_token":"t0k3n-%d","token_type":"Bearer","expires_in":3600}`, n)
	} else {
		i.answer(n, w)
	}
	return w.Result(), nil
}

func (i *issuer) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.got)
}

func client() *irv1.OAuth2Credential {
	return &irv1.OAuth2Credential{
		Scheme: irv1.Scheme_SCHEME_HTTPS, Authority: "login.example", Path: "/oauth/token",
		ClientId: "node one", Secret: "client", ClientAuth: irv1.ClientAuth_CLIENT_AUTH_BASIC,
	}
}

// credential returns what source describes, with tokens from i.
func (i *issuer) credential(source *irv1.OAuth2Credential, values map[string]string) *credential.Credential {
	c := &irv1.Credential{Kind: &irv1.Credential_Oauth2{Oauth2: source}}
	return credential.New(c, secrets(values), upstream.New(upstream.TokenOriginOf(source), i), "bindery/test")
}

func known() map[string]string { return map[string]string{"BINDERY_SECRET_CLIENT": "s3cr3t:/"} }

// authorized returns the header that a request gets.
func authorized(t *testing.T, c *credential.Credential) http.Header {
	t.Helper()
	h := http.Header{}
	if err := c.Authorize(t.Context(), h, limit); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestGrantRequest(t *testing.T) {
	more := client()
	more.Scopes = []string{"read", "write"}
	more.Parameters = []*irv1.TokenParameter{{Name: "audience", Value: "https://api.example/?a=b&c"}}
	inBody := client()
	inBody.ClientAuth = irv1.ClientAuth_CLIENT_AUTH_BODY
	tests := []struct {
		name   string
		source *irv1.OAuth2Credential
		form   string // encoded, sorted by name
		basic  bool
	}{
		{"plain", client(), "grant_type=client_credentials", true},
		{"scopes and parameters", more, "audience=https%3A%2F%2Fapi.example%2F%3Fa%3Db%26c&grant_type=client_credentials&scope=read+write", true},
		{"in the body", inBody, "client_id=node+one&client_secret=s3cr3t%3A%2F&grant_type=client_credentials", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			i := &issuer{}
			if got := authorized(t, i.credential(tt.source, known())).Get("Authorization"); got != "Bearer t0k3n-1" {
				t.Errorf("Authorization is %q", got)
			}
			r := i.got[0]
			if line := r.Method + " " + r.URL.String(); line != "POST https://login.example/oauth/token" || r.PostForm.Encode() != tt.form {
				t.Errorf("request is %s with %s, want %s", line, r.PostForm.Encode(), tt.form)
			}
			user, password, ok := r.BasicAuth() // both are form-encoded (RFC 6749, section 2.3.1)
			if ok != tt.basic || ok && (user != "node+one" || password != "s3cr3t%3A%2F") {
				t.Errorf("the client is %q, %t", user, ok)
			}
			if r.Header.Get("User-Agent") != "bindery/test" || r.Header.Get("Accept") != "application/json" {
				t.Errorf("header is %v", r.Header)
			}
		})
	}
}

// A hundred calls at once fetch one token, and it serves the calls after them.
func TestOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{hold: make(chan struct{})}
		c := i.credential(client(), known())
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if got := authorized(t, c).Get("Authorization"); got != "Bearer t0k3n-1" {
					t.Errorf("Authorization is %q", got)
				}
			})
		}
		synctest.Wait()
		close(i.hold)
		wg.Wait()
		authorized(t, c)
		if n := i.count(); n != 1 {
			t.Errorf("%d tokens were fetched", n)
		}
	})
}

// A caller that gives up, or whose time is over, leaves the fetch to the others.
func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{hold: make(chan struct{})}
		c := i.credential(client(), known())
		canceled, cancel := context.WithCancel(t.Context())
		ends := make(chan error, 2)
		go func() { ends <- c.Authorize(canceled, http.Header{}, limit) }()
		synctest.Wait()
		patient := make(chan error, 1)
		go func() { patient <- c.Authorize(t.Context(), http.Header{}, limit) }()
		cancel()
		if err := <-ends; !errors.Is(err, upstream.ErrCanceled) {
			t.Errorf("a caller that gave up gets %v", err)
		}
		go func() { ends <- c.Authorize(t.Context(), http.Header{}, time.Second) }()
		if err := <-ends; !errors.Is(err, upstream.ErrTimeout) {
			t.Errorf("a caller whose time is over gets %v", err)
		}
		close(i.hold)
		if err := <-patient; err != nil {
			t.Error(err)
		}
		if n := i.count(); n != 1 {
			t.Errorf("%d tokens were fetched", n)
		}
	})
}

// A fetch that hangs ends by itself, and the next call begins another.
func TestFetchTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issuer{hold: make(chan struct{})}
		c := i.credential(client(), known())
		err := c.Authorize(t.Context(), http.Header{}, time.Minute)
		if want := "no token: upstream login.example: timed out"; !errors.Is(err, upstream.ErrTimeout) || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
		close(i.hold)
		authorized(t, c)
	})
}

func TestTokenIsRenewed(t *testing.T) {
	tests := []struct {
		name      string
		expiresIn string
		after     time.Duration
		fetches   int
	}{
		{"long before its end", `,"expires_in":3600`, 3569 * time.Second, 1},
		{"shortly before its end", `,"expires_in":3600`, 3570 * time.Second, 2},
		{"in words", `,"expires_in":"3600"`, 3570 * time.Second, 2},
		{"a short life", `,"expires_in":10`, 8999 * time.Millisecond, 1},
		{"the end of a short life", `,"expires_in":10`, 9 * time.Second, 2},
		{"no end", ``, 1000 * time.Hour, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := &issuer{answer: func(n int, w http.ResponseWriter) {
					fmt.Fprintf(w, `{"access_token":"t0k3n-%d","token_type":"bearer"%s}`, n, tt.expiresIn)
				}}
				c := i.credential(client(), known())
				authorized(t, c)
				time.Sleep(tt.after)
				if got, want := authorized(t, c).Get("Authorization"), fmt.Sprint("Bearer t0k3n-", tt.fetches); got != want {
					t.Errorf("Authorization is %q, want %q", got, want)
				}
			})
		})
	}
}

// A 401 costs the token that it came for, once, and not one that has replaced it.
func TestRejected(t *testing.T) {
	i := &issuer{}
	c := i.credential(client(), known())
	first := authorized(t, c)
	c.Rejected(first)
	second := authorized(t, c)
	c.Rejected(first)
	third := authorized(t, c)
	if second.Get("Authorization") != "Bearer t0k3n-2" || third.Get("Authorization") != "Bearer t0k3n-2" {
		t.Errorf("tokens are %q, then %q", second.Get("Authorization"), third.Get("Authorization"))
	}
}

func TestRotatedSecret(t *testing.T) {
	i, values := &issuer{}, known()
	c := i.credential(client(), values)
	authorized(t, c)
	values["BINDERY_SECRET_CLIENT"] = "rotated"
	authorized(t, c)
	if n := i.count(); n != 2 {
		t.Fatalf("%d tokens were fetched", n)
	}
	if _, password, _ := i.got[1].BasicAuth(); password != "rotated" {
		t.Error("the second token was asked for with the first secret")
	}
	delete(values, "BINDERY_SECRET_CLIENT")
	if err := c.Authorize(t.Context(), http.Header{}, limit); err == nil {
		t.Error("a secret that is gone still authorizes")
	}
}

// What a token endpoint does wrong ends the call before its request, in words of the
// node's own.
func TestNoToken(t *testing.T) {
	const marker = "m4rk3r"
	tests := []struct {
		name   string
		answer func(n int, w http.ResponseWriter)
		want   string
	}{
		{"refusal", body(401, `{"error":"invalid_client","error_description":"m4rk3r"}`), "it answered with status 401"},
		{"failure", body(503, `m4rk3r`), "it answered with status 503"},
		{"redirect", func(_ int, w http.ResponseWriter) {
			w.Header().Set("Location", "https://evil.example/m4rk3r")
			w.WriteHeader(307)
		}, "it answered with status 307"},
		{"error with 200", body(200, `{"error":"m4rk3r"}`), "its answer holds no token"},
		{"no JSON", body(200, `m4rk3r`), "its answer holds no token"},
		{"no token", body(200, `{"m4rk3r":1}`), "its answer holds no token"},
		{"too large", body(200, `{"access_token":"`+strings.Repeat("m4rk3r", 64<<10)+`"}`), "its answer holds no token"},
		{"another type", body(200, `{"access_token":"m4rk3r","token_type":"mac"}`), "its token is not one that can be sent"},
		{"second line", body(200, `{"access_token":"a\r\nm4rk3r"}`), "its token is not one that can be sent"},
		{"two words", body(200, `{"access_token":"a m4rk3r"}`), "its token is not one that can be sent"},
		{"panic", func(int, http.ResponseWriter) { panic(marker) }, "a bug: string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			i, h := &issuer{answer: tt.answer}, http.Header{}
			c := i.credential(client(), known())
			err := c.Authorize(t.Context(), h, limit)
			if want := "no token: upstream login.example: unreachable: " + tt.want; !errors.Is(err, upstream.ErrUnreachable) || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
			if len(h) > 0 || i.count() != 1 {
				t.Errorf("header is %v after %d requests", h, i.count())
			}
			i.answer = nil
			authorized(t, c) // a failure is not kept
		})
	}
}

// Some issuers send what they issue as a form.
func TestTokenInAForm(t *testing.T) {
	i := &issuer{answer: func(_ int, w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
		_, _ = io.WriteString(w, "access_token=t0k3n&token_type=bearer&expires_in=3600")
	}}
	if got := authorized(t, i.credential(client(), known())).Get("Authorization"); got != "Bearer t0k3n" {
		t.Errorf("Authorization is %q", got)
	}
}

func body(status int, text string) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// FuzzToken holds, whatever a token endpoint answers: nothing panics, and a request
// gets one header that can be sent, or none and an error that quotes nothing.
func FuzzToken(f *testing.F) {
	for _, answer := range []string{
		`{"access_token":"t","token_type":"Bearer","expires_in":3600}`, `{"access_token":"t","expires_in":"-1"}`, `{"access_token":"t","expires_in":1e99}`,
		`{"access_token":"\u000d\u000a"}`, `{"error":"m4rk3r"}`, `access_token=m4rk3r&expires_in=10`, `[]`, ``, `{"access_token":"é"}`,
	} {
		f.Add(uint16(200), "application/json", []byte(answer))
		f.Add(uint16(400), "text/plain", []byte(answer))
	}
	f.Fuzz(func(t *testing.T, status uint16, media string, answer []byte) {
		i, h := &issuer{answer: func(_ int, w http.ResponseWriter) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(200 + int(status)%400)
			_, _ = w.Write(answer)
		}}, http.Header{}
		err := i.credential(client(), known()).Authorize(t.Context(), h, limit)
		switch value := h.Get("Authorization"); {
		case err == nil && (!strings.HasPrefix(value, "Bearer ") || !irv1.ValidHeaderValue(value) || strings.Count(value, " ") != 1):
			t.Errorf("Authorization is %q", value)
		case err != nil && (len(h) > 0 || strings.Contains(err.Error(), "m4rk3r") || strings.Contains(err.Error(), "a bug")):
			t.Errorf("header is %v, error %v", h, err)
		}
	})
}
