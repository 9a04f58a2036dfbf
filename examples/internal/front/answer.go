package front

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Types of protocol errors. The zero value of [Error].Type means
// InvalidRequest.
const (
	InvalidRequest     = "invalid_request"
	ProcessingError    = "processing_error"
	ServiceUnavailable = "service_unavailable"
	RateLimitExceeded  = "rate_limit_exceeded" // Delegate Payment only
)

// An Error is the body of every answer outside 2xx. It holds no value that came
// with the request.
type Error struct {
	Type              string   `json:"type"`
	Code              string   `json:"code"`
	Message           string   `json:"message"`
	Param             string   `json:"param,omitempty"` // RFC 9535 JSONPath
	SupportedVersions []string `json:"supported_versions,omitempty"`
}

// Fail answers with a protocol error.
func Fail(status int, e Error) *Answer {
	if e.Type == "" {
		e.Type = InvalidRequest
	}
	return JSON(status, e)
}

// JSON answers with v, which must be something that marshals.
func JSON(status int, v any) *Answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("front: %T does not marshal: %v", v, err))
	}
	return &Answer{
		Status: status,
		Header: http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}},
		Body:   body,
	}
}

// NotFound answers requests for paths that the server does not have.
func NotFound(w http.ResponseWriter, r *http.Request) {
	send(w, r, Fail(http.StatusNotFound, Error{Code: "not_found", Message: "There is nothing at this path."}))
}

// NotAllowed answers requests for a path of the server with a method other than
// those given.
func NotAllowed(methods ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := Fail(http.StatusMethodNotAllowed, Error{Code: "method_not_allowed", Message: "This path does not take this method."})
		a.Header.Set("Allow", strings.Join(methods, ", "))
		send(w, r, a)
	})
}
