// Package front is the outermost layer of the sample ACP servers. An HTTP
// request comes in; what goes out to the server behind it is a call that is
// authenticated, of a known API version, not larger than allowed, JSON where it
// has a body and the only one of its idempotency key. Everything else is
// answered here, with the protocol's flat error.
package front

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/examples/internal/idempotency"
)

// Answer is a complete HTTP response.
type Answer = idempotency.Answer

// A Call is a request that may be worked on.
type Call struct {
	Caller string // names the credential it came with; not the credential
	ID     string // the path's {id}; empty where the path has none
	Key    string // the Idempotency-Key; empty if it came without
	Body   []byte // one JSON value; nil: no body
}

// A Handler works on a call. Its context lives on when the caller goes away:
// what was begun must end in an answer that a retry can get.
type Handler func(ctx context.Context, c Call) *Answer

// A Gate is the checks that all operations of one server share.
type Gate struct {
	Tokens      []string // bearer tokens; each is a caller of its own
	Versions    []string // API versions, newest first
	MaxBody     int64    // in bytes
	KeyOptional bool     // let POST requests without Idempotency-Key through
	Keys        *idempotency.Store
	Observe     func(r *http.Request, body []byte) // sees every request before it is checked; may be nil
}

// Read serves an operation that changes nothing.
func (g *Gate) Read(h Handler) http.Handler {
	return g.serve(func(ctx context.Context, r *http.Request, c Call) *Answer { return h(ctx, c) })
}

// Write serves an operation that is worked on once for each idempotency key.
// needBody says whether a request without a body is refused.
func (g *Gate) Write(needBody bool, h Handler) http.Handler {
	return g.serve(func(ctx context.Context, r *http.Request, c Call) *Answer {
		if fault := bodyFault(r, c.Body, needBody); fault != nil {
			return fault
		}
		if c.Key == "" && g.KeyOptional {
			return h(ctx, c)
		}
		return g.once(ctx, r.URL.Path, c, h)
	})
}

func (g *Gate) serve(work func(context.Context, *http.Request, Call) *Answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.MaxBody))
		if g.Observe != nil {
			g.Observe(r, body)
		}
		if err != nil {
			send(w, r, unreadable(err))
			return
		}
		caller, fault := g.admit(r)
		if fault != nil {
			send(w, r, fault)
			return
		}
		call := Call{Caller: caller, ID: r.PathValue("id"), Key: r.Header.Get("Idempotency-Key")}
		if len(body) > 0 {
			call.Body = body
		}
		send(w, r, work(context.WithoutCancel(r.Context()), r, call))
	})
}

// admit names the caller, or says why the request may not come in.
func (g *Gate) admit(r *http.Request) (caller string, fault *Answer) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	print := sha256.Sum256([]byte(token))
	known := slices.ContainsFunc(g.Tokens, func(t string) bool {
		want := sha256.Sum256([]byte(t))
		return t != "" && subtle.ConstantTimeCompare(print[:], want[:]) == 1
	})
	if !known {
		a := Fail(http.StatusUnauthorized, Error{Code: "unauthorized", Message: "The bearer token is missing or not known."})
		a.Header.Set("WWW-Authenticate", "Bearer")
		return "", a
	}
	switch version := r.Header.Get("API-Version"); {
	case version == "":
		return "", g.versionFault("missing_api_version", "The API-Version header is required.")
	case !slices.Contains(g.Versions, version):
		return "", g.versionFault("unsupported_api_version", "This API version is not supported.")
	}
	return hex.EncodeToString(print[:8]), nil
}

func (g *Gate) versionFault(code, message string) *Answer {
	return Fail(http.StatusBadRequest, Error{Code: code, Message: message, SupportedVersions: g.Versions})
}

func unreadable(err error) *Answer {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return Fail(http.StatusRequestEntityTooLarge, Error{Code: "body_too_large", Message: "The request body is too large."})
	}
	return Fail(http.StatusBadRequest, Error{Code: "unreadable_body", Message: "The request body could not be read."})
}

func bodyFault(r *http.Request, body []byte, need bool) *Answer {
	if body == nil {
		if need {
			return Fail(http.StatusBadRequest, Error{Code: "missing_body", Message: "The request needs a JSON body.", Param: "$"})
		}
		return nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return Fail(http.StatusUnsupportedMediaType, Error{Code: "unsupported_media_type", Message: "Content-Type must be application/json."})
	}
	if !json.Valid(body) {
		return Fail(http.StatusBadRequest, Error{Code: "invalid_json", Message: "The request body is not JSON.", Param: "$"})
	}
	return nil
}

// once runs h unless the call's idempotency key has its answer already.
func (g *Gate) once(ctx context.Context, path string, c Call, h Handler) (answer *Answer) {
	if n := len(c.Key); n < 1 || n > 255 {
		return keyFault(n)
	}
	old, done, err := g.Keys.Begin(idempotency.Key{Caller: c.Caller, Path: path, Value: c.Key}, c.Body)
	switch {
	case errors.Is(err, idempotency.ErrInFlight):
		a := Fail(http.StatusConflict, Error{Code: "idempotency_in_flight", Message: "A request with this Idempotency-Key is being worked on."})
		a.Header.Set("Retry-After", "1")
		return a
	case err != nil:
		return Fail(http.StatusUnprocessableEntity, Error{Code: "idempotency_conflict", Message: "This Idempotency-Key came with another request body before."})
	case old != nil:
		return replayed(old)
	}
	defer func() { done(answer) }() // answer is nil when h panics
	return h(ctx, c)
}

func keyFault(length int) *Answer {
	if length == 0 {
		return Fail(http.StatusBadRequest, Error{Code: "idempotency_key_required", Message: "The Idempotency-Key header is required."})
	}
	return Fail(http.StatusBadRequest, Error{Code: "invalid_idempotency_key", Message: "An Idempotency-Key has at most 255 characters."})
}

func replayed(old *Answer) *Answer {
	a := &Answer{Status: old.Status, Header: old.Header.Clone(), Body: old.Body}
	a.Header.Set("Idempotent-Replayed", "true")
	return a
}

// send writes a and echoes what the protocol wants echoed.
func send(w http.ResponseWriter, r *http.Request, a *Answer) {
	h := w.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	for _, name := range []string{"Request-Id", "Idempotency-Key"} {
		if v := r.Header.Get(name); v != "" {
			h.Set(name, v)
		}
	}
	w.WriteHeader(a.Status)
	// The caller is gone if this fails; its retry is answered again.
	_, _ = io.Copy(w, bytes.NewReader(a.Body))
}
