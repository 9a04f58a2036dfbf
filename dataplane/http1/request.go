package http1

import (
	"errors"
	"net/http"

	"golang.org/x/net/http/httpguts"
)

// sendable returns why req cannot be sent: [http.Request.Write] would send another
// header in place of one that is not a header.
func sendable(req *http.Request) error {
	if req.Method != "" && !httpguts.ValidHeaderFieldName(req.Method) { // both are tokens
		return errors.New("the method is not one of HTTP")
	}
	for name, values := range req.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return errors.New("the name of a header field is not one of HTTP")
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return errors.New("the value of a header field is not one of HTTP")
			}
		}
	}
	return nil
}

// repeatable reports whether net/http takes a second req for harmless: it is safe, or has
// an Idempotency-Key or X-Idempotency-Key.
func repeatable(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return len(req.Header["Idempotency-Key"]) > 0 || len(req.Header["X-Idempotency-Key"]) > 0
}

// rewound returns req with its body from the beginning.
func rewound(req *http.Request) (*http.Request, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	again := *req
	again.Body = body
	return &again, nil
}

func closeBody(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	return req.Body.Close()
}
