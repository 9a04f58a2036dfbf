package http1

import (
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
)

// appendPlain appends req, which is sendable, to b: the bytes that [http.Request.Write]
// writes. It reports false for a request with anything that takes more than copying what
// it has, which is for Write itself; nothing of its body is read then.
func appendPlain(b []byte, req *http.Request) ([]byte, bool, error) {
	body := req.Body != nil && req.Body != http.NoBody
	target := req.URL.RequestURI()
	switch {
	case req.Method == "" || req.Method == http.MethodConnect:
		return b, false, nil
	case body && (req.ContentLength <= 0 || req.ContentLength > waitless):
		return b, false, nil
	case req.Close || len(req.TransferEncoding)+len(req.Trailer) > 0:
		return b, false, nil
	case !printable(target) || !isPlainHost(req.Host):
		return b, false, nil
	}
	b = append(append(append(b, req.Method...), ' '), target...)
	b = appendField(append(b, " HTTP/1.1\r\n"...), "Host", req.Host)
	b = appendAgent(b, req.Header)
	if body {
		b = appendLength(b, req.ContentLength)
	} else if req.Method == http.MethodPost || req.Method == http.MethodPut || req.Method == http.MethodPatch {
		b = appendLength(b, 0)
	}
	b = append(appendHeader(b, req.Header), "\r\n"...)
	if !body {
		return b, true, nil
	}
	b, err := appendBody(b, req.Body, int(req.ContentLength))
	return b, true, err
}

// appendAgent appends the User-Agent, which comes early and has a default: the one of
// net/http, which it does not export.
func appendAgent(b []byte, h http.Header) []byte {
	agent := "Go-http-client/1.1"
	if said, ok := h["User-Agent"]; ok {
		agent = ""
		if len(said) > 0 {
			agent = said[0]
		}
	}
	if agent == "" {
		return b
	}
	return appendField(b, "User-Agent", agent)
}

// appendHeader appends the fields of h that the request itself does not decide, by name.
func appendHeader(b []byte, h http.Header) []byte {
	var some [16]string
	names := some[:0]
	for name := range h {
		switch name {
		case "Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Trailer":
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range h[name] {
			b = appendField(b, name, value)
		}
	}
	return b
}

func appendLength(b []byte, n int64) []byte {
	b = strconv.AppendInt(append(b, "Content-Length: "...), n, 10)
	return append(b, "\r\n"...)
}

func appendField(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, textproto.TrimString(value)...), "\r\n"...)
}

// appendBody appends all of body, which has to have n bytes.
func appendBody(b []byte, body io.Reader, n int) ([]byte, error) {
	b = slices.Grow(b, n+1) // one more, to see that there are no more
	read, err := io.ReadFull(body, b[len(b):len(b)+n+1])
	switch {
	case read == n && (err == io.ErrUnexpectedEOF || err == io.EOF):
		return b[:len(b)+n], nil
	case err == nil || err == io.ErrUnexpectedEOF || err == io.EOF:
		return b, fmt.Errorf("the body does not have the %d bytes that the request says", n)
	}
	return b, err
}

// printable reports whether s has no control characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// isPlainHost reports whether host is sent as it is.
func isPlainHost(host string) bool {
	for i := range len(host) {
		c := host[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != ':' {
			return false
		}
	}
	return host != ""
}
