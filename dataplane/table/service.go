package table

import (
	"cmp"
	"net/http"

	"github.com/bindery-dev/bindery/dataplane/credential"
	"github.com/bindery-dev/bindery/dataplane/upstream"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Service is an upstream made ready.
type Service struct {
	Client      *upstream.Client
	BasePath    string                 // escaped; "" or begins with a slash and ends with none
	Header      http.Header            // sent with every request; not to be changed
	Credential  *credential.Credential // nil: none
	Deadline    string                 // the header that says how much time there is; "": none
	MaxRequest  int64                  // bytes of a request's body
	MaxResponse int64                  // bytes of a response's body
}

func (b *builder) service(u *irv1.Upstream) *Service {
	header := http.Header{"Accept": {"application/json"}, "User-Agent": {b.deps.UserAgent}}
	for _, h := range u.GetHeaders() {
		header.Set(h.GetName(), h.GetValue())
	}
	return &Service{
		Client:      b.client(upstream.OriginOf(u)),
		BasePath:    u.GetBasePath(),
		Header:      header,
		Credential:  b.credential(u.GetCredential()),
		Deadline:    u.GetDeadline(),
		MaxRequest:  u.GetMaxRequestBytes(),
		MaxResponse: u.GetMaxResponseBytes(),
	}
}

// client returns the client for origin.
func (b *builder) client(origin upstream.Origin) *upstream.Client {
	client := cmp.Or(b.next.clients[origin], b.prev.clients[origin])
	if client == nil {
		client = upstream.New(origin, b.deps.Transport(origin))
	}
	b.next.clients[origin] = client
	return client
}

// credential returns what source describes; nil for nil. Tokens outlive a table by
// its being shared.
func (b *builder) credential(source *irv1.Credential) *credential.Credential {
	if source == nil {
		return nil
	}
	data, _ := irv1.Marshal(source) // it was unmarshalled: it cannot fail
	digest := irv1.DigestOf(data)
	var tokens *upstream.Client
	if oauth2 := source.GetOauth2(); oauth2 != nil {
		tokens = b.client(upstream.TokenOriginOf(oauth2))
	}
	ready := cmp.Or(b.next.credentials[digest], b.prev.credentials[digest])
	if ready == nil {
		ready = credential.New(source, b.deps.Secrets, tokens, b.deps.UserAgent)
	}
	b.next.credentials[digest] = ready
	return ready
}
