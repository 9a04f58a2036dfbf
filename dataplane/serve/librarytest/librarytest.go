// Package librarytest is an API for tests: a library's, as the IR that a compiler
// would write for it and as the REST service behind it. Tests change either to
// their need.
package librarytest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// Endpoint is where the binding is served.
const Endpoint = "/library"

// Secret is the name of the bearer token that the upstream wants.
const Secret = "library-token"

const getSchema = `{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}`

const addSchema = `{"type":"object","required":["payload"],"properties":{` +
	`"meta":{"type":"object","properties":{"request_id":{"type":"string"}}},` +
	`"payload":{"type":"object","required":["title"],"properties":{"title":{"type":"string"}}}}}`

// Binding returns a binding of two tools, get_book and add_book, whose upstream is
// at authority, host:port.
func Binding(authority string) *irv1.Binding {
	get, add := irv1.DigestOf([]byte(getSchema)), irv1.DigestOf([]byte(addSchema))
	return &irv1.Binding{
		Name:     "library",
		Title:    "Library",
		Endpoint: Endpoint,
		Upstream: &irv1.Upstream{
			Scheme:           irv1.Scheme_SCHEME_HTTP,
			Authority:        authority,
			Credential:       &irv1.Credential{Kind: &irv1.Credential_Bearer{Bearer: &irv1.BearerCredential{Secret: Secret}}},
			MaxRequestBytes:  1 << 20,
			MaxResponseBytes: 1 << 20,
		},
		Meta: []*irv1.MetaRule{{
			Field: "request_id", Header: "X-Request-Id", Description: "Names the request.",
			Format: irv1.Format_FORMAT_TEXT, Generate: irv1.Generate_GENERATE_NOTHING, MinLength: 1, MaxLength: 255,
		}},
		Errors: &irv1.Errors{
			Style:   irv1.ErrorStyle_ERROR_STYLE_JSONRPC,
			Code:    -32000,
			Message: &irv1.Pointer{Tokens: []string{"message"}},
			Usable:  []string{"message"},
			Rules: []*irv1.ErrorRule{rule("client", class(4)), rule("server", class(5), class(3),
				failure(irv1.Failure_FAILURE_UNREACHABLE), failure(irv1.Failure_FAILURE_TIMEOUT), failure(irv1.Failure_FAILURE_UNUSABLE))},
			Payload: &irv1.PayloadError{
				Code: -32000, Data: []*irv1.Member{{Name: "code", Json: []byte(`"bad_payload"`)}},
				MessageMember: "message", PathMember: "path",
			},
		},
		Tools: []*irv1.Tool{
			{
				Name: "add_book", Title: "Add a book", Description: "Adds a book.",
				Method: irv1.Method_METHOD_POST, Path: []*irv1.PathPart{literal("/books")},
				Meta: []string{"request_id"}, Payload: &irv1.Payload{Required: true, Check: irv1.Check_CHECK_ENFORCE},
				InputSchema: add[:], Timeout: durationpb.New(10 * time.Second),
				Annotations: &irv1.Annotations{OpenWorld: true}, Result: irv1.ResultMode_RESULT_MODE_DUAL,
			},
			{
				Name: "get_book", Title: "Get a book", Description: "Finds a book.",
				Method: irv1.Method_METHOD_GET, Path: []*irv1.PathPart{literal("/books/"), {Kind: &irv1.PathPart_Argument{Argument: "id"}}},
				Arguments: []*irv1.Argument{{
					Name: "id", In: irv1.ArgumentIn_ARGUMENT_IN_PATH, Type: irv1.ArgumentType_ARGUMENT_TYPE_STRING, Required: true,
				}},
				InputSchema: get[:], Timeout: durationpb.New(10 * time.Second),
				Annotations: &irv1.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true}, Result: irv1.ResultMode_RESULT_MODE_DUAL,
			},
		},
	}
}

func rule(name string, conditions ...*irv1.Condition) *irv1.ErrorRule {
	return &irv1.ErrorRule{Name: name, Conditions: conditions, Fallback: []*irv1.Member{
		{Name: "code", Json: []byte(`"unavailable"`)}, {Name: "message", Json: []byte(`"The library cannot answer."`)},
	}}
}

func class(c uint32) *irv1.Condition {
	return &irv1.Condition{Kind: &irv1.Condition_Class{Class: c}}
}

func failure(f irv1.Failure) *irv1.Condition {
	return &irv1.Condition{Kind: &irv1.Condition_Failure{Failure: f}}
}

func literal(s string) *irv1.PathPart {
	return &irv1.PathPart{Kind: &irv1.PathPart_Literal{Literal: s}}
}

// Bundle returns the bundle of bindings that differ from [Binding], [Prompting] and
// [Shelving] in anything but schemas and files.
func Bundle(t testing.TB, bindings ...*irv1.Binding) *irv1.Bundle {
	t.Helper()
	b, err := irv1.Parts{
		Bindings: bindings, Schemas: [][]byte{[]byte(getSchema), []byte(addSchema), []byte(findSchema)}, Files: [][]byte{[]byte(Page), []byte(Picture)},
	}.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Content returns the content of [Bundle].
func Content(t testing.TB, bindings ...*irv1.Binding) *irv1.Content {
	t.Helper()
	c, err := irv1.Open(Bundle(t, bindings...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Upstream is the library. It has every book but "missing", and for "busy" asks to
// wait for 7 s; it adds every book but
// one whose title is "taken", and wants the bearer token "open sesame".
func Upstream() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /books/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		if id == "missing" {
			answer(w, http.StatusNotFound, `{"code":"no_book","message":"There is no such book."}`)
			return
		}
		if id == "busy" {
			w.Header().Set("Retry-After", "7")
			answer(w, http.StatusTooManyRequests, `{"code":"busy","message":"There is a queue."}`)
			return
		}
		quoted, _ := json.Marshal(id) // a string always marshals
		answer(w, http.StatusOK, fmt.Sprintf(`{"title":"Go & more", "id":%s, "price":10.50, "big":9007199254740993}`, quoted))
	})
	mux.HandleFunc("GET /books", find)
	mux.HandleFunc("GET /media/{id}", media)
	mux.HandleFunc("POST /books", func(w http.ResponseWriter, r *http.Request) {
		var book struct{ Title string }
		body, _ := io.ReadAll(r.Body) // a node that goes away gets no answer anyway
		if json.Unmarshal(body, &book) != nil || book.Title == "taken" {
			answer(w, http.StatusConflict, `{"code":"taken","message":"There is such a book already."}`)
			return
		}
		answer(w, http.StatusCreated, string(body))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer open sesame" {
			answer(w, http.StatusUnauthorized, `{"code":"who","message":"Who are you?"}`)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// StateSecret is the name of a secret that can seal.
const StateSecret = "state-key"

// Env finds the secret that [Upstream] wants and [StateSecret], in place of the
// environment.
func Env(name string) (string, bool) {
	switch name {
	case "BINDERY_SECRET_LIBRARY_TOKEN":
		return "open sesame", true
	case "BINDERY_SECRET_STATE_KEY":
		return "thirty-two bytes that nobody else knows", true
	}
	return "", false
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a node that is gone needs no answer
}
