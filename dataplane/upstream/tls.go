package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"github.com/bindery-dev/bindery/dataplane/secret"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// TLS is how connections to an origin are secured. The zero TLS is TLS 1.2 or later,
// with a service that the roots of the system vouch for.
type TLS struct {
	Only13 bool // TLS 1.3 or later
	// CA, Certificate and Key name secrets, PEM each: the certificates that the
	// service's is verified against instead of the system's roots, and the node's own
	// certificate and its key. "" for none.
	CA, Certificate, Key string
}

func tlsOf(t *irv1.TLS) TLS {
	return TLS{
		Only13:      t.GetMin() == irv1.TLSVersion_TLS_VERSION_1_3,
		CA:          t.GetCa(),
		Certificate: t.GetCertificate(),
		Key:         t.GetKey(),
	}
}

// errOwnTLS is wrapped by errors about the secrets of a [TLS]: no fault of the
// service.
var errOwnTLS = errors.New("the node's own TLS material")

// Check returns why no connection can be secured with the secrets as they are now;
// nil when nothing is known to prevent it. The error holds no secret.
func (t TLS) Check(secrets *secret.Store) error {
	_, err := t.config(secrets)
	return err
}

// dial returns a function that opens a secured connection with the secrets as they
// are when it is called.
func (t TLS) dial(dialer *net.Dialer, secrets *secret.Store) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		config, err := t.config(secrets)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, dialTimeout+handshakeTimeout)
		defer cancel()
		return (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, network, addr)
	}
}

func (t TLS) config(secrets *secret.Store) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if t.Only13 {
		c.MinVersion = tls.VersionTLS13
	}
	if t.CA != "" {
		pem, err := secrets.Lookup(t.CA)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", errOwnTLS, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(pem)) {
			return nil, fmt.Errorf("%w: secret %q holds no certificate in PEM", errOwnTLS, t.CA)
		}
	}
	if t.Certificate == "" {
		return c, nil
	}
	own, err := t.certificate(secrets)
	if err != nil {
		return nil, err
	}
	c.Certificates = []tls.Certificate{own}
	return c, nil
}

// certificate returns the node's own, with its key.
func (t TLS) certificate(secrets *secret.Store) (tls.Certificate, error) {
	certificate, err := secrets.Lookup(t.Certificate)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%w: %v", errOwnTLS, err)
	}
	key, err := secrets.Lookup(t.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%w: %v", errOwnTLS, err)
	}
	own, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		return own, fmt.Errorf("%w: secrets %q and %q are not a certificate and its key in PEM", errOwnTLS, t.Certificate, t.Key)
	}
	return own, nil
}
