package credential_test

import (
	"errors"
	"net/http"
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

func TestNone(t *testing.T) {
	var none *credential.Credential
	h := http.Header{}
	if err := none.Authorize(t.Context(), h, time.Second); err != nil || len(h) != 0 {
		t.Errorf("no credential sets %v, error %v", h, err)
	}
	none.Rejected(h)
}
