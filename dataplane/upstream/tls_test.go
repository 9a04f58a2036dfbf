package upstream_test

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	"github.com/bindery-dev/bindery/internal/testcert"
)

// careful starts a server with a certificate of a that lets in only those who have one,
// too, and greets them by its name. It returns its host and port.
func careful(t *testing.T, a *testcert.Authority, ip net.IP, versions ...uint16) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName+" "+r.Proto)
	}))
	srv.EnableHTTP2 = true
	srv.TLS = a.Demand(t, ip)
	if len(versions) > 0 {
		srv.TLS.MaxVersion = versions[0]
	}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// variables returns a store of the secrets called as in values, which may change.
func variables(values map[string]string) *secret.Store {
	return secret.New("", func(name string) (string, bool) {
		v, ok := values[strings.ToLower(strings.TrimPrefix(name, "BINDERY_SECRET_"))]
		return v, ok
	})
}

func secured(t *testing.T, authority string, how upstream.TLS, secrets *secret.Store) *upstream.Client {
	t.Helper()
	origin := upstream.Origin{Scheme: "https", Authority: authority, TLS: how}
	c := upstream.New(origin, upstream.Transport(origin, secrets))
	t.Cleanup(c.Close)
	return c
}

// loopback is where test servers are.
var loopback = net.IPv4(127, 0, 0, 1)

func TestMutualTLS(t *testing.T) {
	ours, theirs := testcert.New(t), testcert.New(t)
	good := map[string]string{"ca": ours.PEM()}
	good["cert"], good["key"] = ours.Issue(t, "node", nil)
	foreign := map[string]string{"ca": good["ca"]}
	foreign["cert"], foreign["key"] = theirs.Issue(t, "stranger", nil)
	all := upstream.TLS{CA: "ca", Certificate: "cert", Key: "key"}
	at, elsewhere := careful(t, ours, loopback), careful(t, ours, net.IPv4(192, 0, 2, 1))
	old := careful(t, ours, loopback, tls.VersionTLS12)
	strict := all
	strict.Only13 = true
	tests := []struct {
		name    string
		at      string
		tls     upstream.TLS
		secrets map[string]string
		want    string // of the body; or
		wantErr string
		refused bool // any error will do
	}{
		{name: "both know each other", at: at, tls: all, secrets: good, want: "node HTTP/2.0"},
		{name: "TLS 1.2 will do", at: old, tls: all, secrets: good, want: "node HTTP/2.0"},
		{name: "TLS 1.2 will not do", at: old, tls: strict, secrets: good, wantErr: "no secure connection: it refused the TLS handshake"},
		// In TLS 1.3 a client learns of these when it has begun to send.
		{name: "no certificate", at: at, tls: upstream.TLS{CA: "ca"}, secrets: good, refused: true},
		{name: "a certificate of others", at: at, tls: all, secrets: foreign, refused: true},
		{name: "another service", at: elsewhere, tls: all, secrets: good, wantErr: "no secure connection: its certificate is for another host"},
		{name: "the system's roots", at: at, tls: upstream.TLS{Certificate: "cert", Key: "key"}, secrets: good, wantErr: "no secure connection: its certificate is signed by an unknown authority"},
		{name: "no roots", at: at, tls: all, secrets: map[string]string{"ca": "s3cr3t"}, wantErr: `no secure connection: the node's own TLS material: secret "ca" holds no certificate in PEM`},
		{name: "no key", at: at, tls: all, secrets: map[string]string{"ca": good["ca"], "cert": good["cert"], "key": "s3cr3t"},
			wantErr: `no secure connection: the node's own TLS material: secrets "cert" and "key" are not a certificate and its key in PEM`},
		{name: "a missing secret", at: at, tls: all, wantErr: `no secure connection: the node's own TLS material: secret is missing: "ca"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := secured(t, tt.at, tt.tls, variables(tt.secrets)).Do(t.Context(), request())
			if tt.wantErr != "" || tt.refused {
				want := "upstream " + tt.at + ": " + tt.wantErr
				if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("error is %v, want %s", err, want)
				}
				return
			}
			if err != nil || string(resp.Body) != tt.want {
				t.Errorf("got %v, %v; want %s", resp, err, tt.want)
			}
		})
	}
}

// A connection uses the secrets that there are when it is opened.
func TestRotatedCertificate(t *testing.T) {
	first, second := testcert.New(t), testcert.New(t)
	values := map[string]string{"ca": first.PEM()}
	values["cert"], values["key"] = first.Issue(t, "old", nil)
	all := upstream.TLS{CA: "ca", Certificate: "cert", Key: "key"}
	client := secured(t, careful(t, first, loopback), all, variables(values))
	greeting := func() string {
		t.Helper()
		resp, err := client.Do(context.Background(), request())
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(string(resp.Body), " ")
		return name
	}
	if got := greeting(); got != "old" {
		t.Errorf("greeted as %s", got)
	}
	values["cert"], values["key"] = first.Issue(t, "new", nil)
	if got := greeting(); got != "old" {
		t.Errorf("greeted as %s on a connection that was kept", got)
	}
	client.Close()
	if got := greeting(); got != "new" {
		t.Errorf("greeted as %s", got)
	}
	values["ca"] = second.PEM()
	client.Close()
	if _, err := client.Do(context.Background(), request()); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("error is %v: the roots are those of before", err)
	}
}
