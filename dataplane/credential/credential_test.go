package credential_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-dev/bindery/dataplane/credential"
	"github.com/bindery-dev/bindery/dataplane/secret"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func bearer(name string) *irv1.Credential {
	return &irv1.Credential{Kind: &irv1.Credential_Bearer{Bearer: &irv1.BearerCredential{Secret: name}}}
}

func basic(user, name string) *irv1.Credential {
	return &irv1.Credential{Kind: &irv1.Credential_Basic{Basic: &irv1.BasicCredential{User: user, Secret: name}}}
}

func header(header, name string) *irv1.Credential {
	return &irv1.Credential{Kind: &irv1.Credential_Header{Header: &irv1.HeaderCredential{Name: header, Secret: name}}}
}

// secrets returns a store of variables, which may change.
func secrets(values map[string]string) *secret.Store {
	return secret.New("", func(name string) (string, bool) { v, ok := values[name]; return v, ok })
}

func TestAuthorize(t *testing.T) {
	store := secrets(map[string]string{"BINDERY_SECRET_PLAIN": "s3cr3t", "BINDERY_SECRET_BROKEN": "a\r\nX-Evil: s3cr3t", "BINDERY_SECRET_WIDE": "pässword"})
	tests := []struct {
		name       string
		credential *irv1.Credential
		header     string
		want       string
		wantErr    bool
	}{
		{name: "bearer", credential: bearer("plain"), header: "Authorization", want: "Bearer s3cr3t"},
		{name: "basic", credential: basic("me", "plain"), header: "Authorization", want: "Basic bWU6czNjcjN0"},
		{name: "basic with wide characters", credential: basic("me", "wide"), header: "Authorization", want: "Basic bWU6cMOkc3N3b3Jk"},
		{name: "header", credential: header("X-Api-Key", "plain"), header: "X-Api-Key", want: "s3cr3t"},
		{name: "missing", credential: bearer("other"), header: "Authorization", wantErr: true},
		{name: "second line", credential: bearer("broken"), header: "Authorization", wantErr: true},
		{name: "second line in a header", credential: header("X-Api-Key", "broken"), header: "X-Api-Key", wantErr: true},
		{name: "wide characters", credential: bearer("wide"), header: "Authorization", wantErr: true},
		{name: "no kind", credential: &irv1.Credential{}, header: "Authorization", wantErr: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			err := credential.New(tt.credential, store, nil, "").Authorize(t.Context(), h, time.Second)
			if (err != nil) != tt.wantErr || h.Get(tt.header) != tt.want {
				t.Errorf("%s: %q, error %v; want %q", tt.header, h.Get(tt.header), err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("the error holds the secret: %v", err)
			}
		})
	}
	err := credential.New(bearer("other"), store, nil, "").Authorize(t.Context(), http.Header{}, time.Second)
	if !errors.Is(err, secret.ErrMissing) {
		t.Errorf("a missing secret gives %v", err)
	}
}

// What an upstream may repeat of a credential is known: by itself, too.
func TestSent(t *testing.T) {
	tests := []struct {
		name       string
		credential *irv1.Credential
		secret     string
		want       []string
	}{
		{"bearer", bearer("secret"), "s3cr3t", []string{"Bearer s3cr3t", "s3cr3t"}},
		{"basic", basic("me", "secret"), "s3:cr3t", []string{"Basic bWU6czM6Y3IzdA==", "bWU6czM6Y3IzdA==", "me:s3:cr3t", "s3:cr3t"}},
		{"header", header("X-Api-Key", "secret"), "s3cr3t", []string{"s3cr3t", ""}},
		{"header with a scheme", header("Authorization", "secret"), "Token s3cr3t", []string{"Token s3cr3t", "s3cr3t"}},
		{"header with a password", header("Authorization", "secret"), "basic bWU6czNjcjN0", []string{"basic bWU6czNjcjN0", "bWU6czNjcjN0", "me:s3cr3t", "s3cr3t"}},
		{"header that is broken", header("Authorization", "secret"), "Basic s3cr3t!", []string{"Basic s3cr3t!", "s3cr3t!"}},
		{"cookies", header("Cookie", "secret"), "v=1; session=s3cr3t-1; theme=dark", []string{"v=1; session=s3cr3t-1; theme=dark", "session=s3cr3t-1; theme=dark", "s3cr3t-1"}},
		{"parameters", header("Authorization", "secret"), `Token id="me",token="s3cr3t=1"`, []string{`Token id="me",token="s3cr3t=1"`, `id="me",token="s3cr3t=1"`, "s3cr3t=1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, h := credential.New(tt.credential, secrets(map[string]string{"BINDERY_SECRET_SECRET": tt.secret}), nil, ""), http.Header{}
			if err := c.Authorize(t.Context(), h, time.Second); err != nil {
				t.Fatal(err)
			}
			if got := c.Sent(h); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNone(t *testing.T) {
	var none *credential.Credential
	h := http.Header{}
	if err := none.Authorize(t.Context(), h, time.Second); err != nil || len(h) != 0 {
		t.Errorf("no credential sets %v, error %v", h, err)
	}
	none.Rejected(h)
	if got := none.Sent(h); got != nil {
		t.Errorf("no credential sent %q", got)
	}
}
