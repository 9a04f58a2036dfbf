package merchant_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bindery-dev/bindery/examples/merchant"
	"github.com/bindery-dev/bindery/examples/psp"
)

const mug = `{"line_items":[{"id":"item_mug"}],"currency":"usd","capabilities":{"interventions":{"supported":[]}}}`

func TestRefusedAtTheDoor(t *testing.T) {
	tests := []struct {
		name    string
		body    string
		headers []string
		status  int
		code    string
	}{
		{"no token", mug, []string{"Authorization", ""}, 401, "unauthorized"},
		{"wrong token", mug, []string{"Authorization", "Bearer wrong"}, 401, "unauthorized"},
		{"empty token", mug, []string{"Authorization", "Bearer "}, 401, "unauthorized"},
		{"no version", mug, []string{"API-Version", ""}, 400, "missing_api_version"},
		{"old version", mug, []string{"API-Version", "2025-09-29"}, 400, "unsupported_api_version"},
		{"no key", mug, []string{"Idempotency-Key", ""}, 400, "idempotency_key_required"},
		{"long key", mug, []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "invalid_idempotency_key"},
		{"content type", mug, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		{"no content type", mug, []string{"Content-Type", ""}, 415, "unsupported_media_type"},
		{"no body", "", nil, 400, "missing_body"},
		{"not JSON", "{", nil, 400, "invalid_json"},
		{"two values", mug + mug, nil, 400, "invalid_json"},
		{"too large", `{"order_notes":"` + strings.Repeat("x", 256<<10) + `"}`, nil, 413, "body_too_large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSeller(t, nil)
			r := s.post("", tt.body, tt.headers...)
			s.want("create", r, tt.status, tt.code, "")
			if r.body.Type != "invalid_request" {
				t.Errorf("type %q", r.body.Type)
			}
			if hasVersions := len(r.body.Versions) > 0; hasVersions != strings.Contains(tt.code, "version") {
				t.Errorf("supported_versions: %v", r.body.Versions)
			}
		})
	}
}

func TestRoutes(t *testing.T) {
	s := newSeller(t, nil)
	s.want("unknown path", s.call(http.MethodGet, "/carts", ""), 404, "not_found", "")
	s.want("unknown session", s.get("cs_0"), 404, "session_not_found", "")
	for _, path := range []string{"", "/cs_0", "/cs_0/complete", "/cs_0/cancel"} {
		r := s.call(http.MethodDelete, "/checkout_sessions"+path, "")
		s.want(path, r, 405, "method_not_allowed", "")
		if r.header.Get("Allow") == "" {
			t.Errorf("%s: 405 without Allow", path)
		}
	}
}

func TestEcho(t *testing.T) {
	s := newSeller(t, nil)
	r := s.post("", mug, "Request-Id", "req_1", "Idempotency-Key", "k")
	if h := r.header; h.Get("Request-Id") != "req_1" || h.Get("Idempotency-Key") != "k" || h.Get("Idempotent-Replayed") != "" {
		t.Errorf("headers of the first answer: %v", h)
	}
	if ct := r.header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type %q", ct)
	}
}

func TestIdempotency(t *testing.T) {
	s := newSeller(t, func(c *merchant.Config) { c.OtherTokens = []string{"other"} })
	first := s.post("", mug, "Idempotency-Key", "k")
	again := s.post("", `{ "capabilities": {"interventions": {"supported": []}}, "currency": "\u0075sd", "line_items": [{"id": "item_mug"}] }`,
		"Idempotency-Key", "k", "Request-Id", "req_2")
	if again.status != 201 || again.text != first.text || again.header.Get("Idempotent-Replayed") != "true" || again.header.Get("Request-Id") != "req_2" {
		t.Errorf("replay: %d %v %s", again.status, again.header, again.text)
	}
	s.want("conflict", s.post("", strings.Replace(mug, "item_mug", "item_123", 1), "Idempotency-Key", "k"), 422, "idempotency_conflict", "")

	id := first.body.ID
	canceled := s.post("/"+id+"/cancel", "", "Idempotency-Key", "k")
	s.want("another path", canceled, 200, "canceled", "info")
	s.want("a replayed cancel is no 405", s.post("/"+id+"/cancel", "", "Idempotency-Key", "k"), 200, "canceled", "info")

	other := s.post("", mug, "Idempotency-Key", "k", "Authorization", "Bearer other")
	if other.status != 201 || other.body.ID == id {
		t.Errorf("another caller's key: %d %s", other.status, other.text)
	}
	r := s.call(http.MethodGet, "/checkout_sessions/"+id, "", "Authorization", "Bearer other")
	s.want("another caller's session", r, 404, "session_not_found", "")
}

func TestKeyOptional(t *testing.T) {
	s := newSeller(t, func(c *merchant.Config) { c.KeyOptional = true })
	a, b := s.post("", mug, "Idempotency-Key", ""), s.post("", mug, "Idempotency-Key", "")
	if a.status != 201 || b.status != 201 || a.body.ID == b.body.ID {
		t.Errorf("without keys: %d %s, %d %s", a.status, a.body.ID, b.status, b.body.ID)
	}
}

// TestInFlight completes a session whose charge does not come back, and meets it
// from everywhere else meanwhile.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSeller(t, nil)
		goOn := make(chan struct{})
		s.charge = func(psp.Charge) error { <-goOn; return nil }
		path := "/" + s.ready("item_mug", 1, anyAgent).body.ID
		done := make(chan response)
		go func() { done <- s.post(path+"/complete", "{"+card+"}", "Idempotency-Key", "pay") }()
		synctest.Wait()

		r := s.post(path+"/complete", "{"+card+"}", "Idempotency-Key", "pay")
		s.want("equal request", r, 409, "idempotency_in_flight", "")
		if r.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
		}
		s.want("other body", s.post(path+"/complete", "{"+card+`,"order_notes":"x"}`, "Idempotency-Key", "pay"), 422, "idempotency_conflict", "")
		s.want("other key", s.post(path+"/complete", "{"+card+"}"), 409, "complete_in_progress", "")
		s.want("update", s.post(path, "{}", "Idempotency-Key", "change"), 409, "complete_in_progress", "")
		s.want("cancel", s.post(path+"/cancel", ""), 409, "complete_in_progress", "")
		s.want("get", s.get(path[1:]), 200, "complete_in_progress", "info")

		close(goOn)
		s.want("the first one", <-done, 200, "completed", "")
		r = s.post(path+"/complete", "{"+card+"}", "Idempotency-Key", "pay")
		s.want("replay", r, 200, "completed", "")
		s.want("a 409 is no answer to keep", s.post(path, "{}", "Idempotency-Key", "change"), 400, "invalid_session_state", "")
	})
}

func TestObserveAndIntercept(t *testing.T) {
	var seen []merchant.Request
	s := newSeller(t, func(c *merchant.Config) {
		c.Observe = func(r merchant.Request) { seen = append(seen, r) }
		c.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Request-Id") != "drop" {
				return false
			}
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
	})
	s.post("", mug)
	if len(seen) != 1 || seen[0].Method != "POST" || seen[0].Path != "/checkout_sessions" || string(seen[0].Body) != mug {
		t.Errorf("seen %+v", seen)
	}
	if got := seen[0].Header.Get("Authorization"); got != "[redacted]" {
		t.Errorf("Authorization %q", got)
	}
	r := httptest.NewRequest("POST", "/checkout_sessions", nil)
	r.Header.Set("Request-Id", "drop")
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	if w.Code != http.StatusBadGateway || len(seen) != 1 {
		t.Errorf("intercepted: %d, %d seen", w.Code, len(seen))
	}
}

// TestCallerGoesAway: a payment that was begun ends, and a retry gets its order.
func TestCallerGoesAway(t *testing.T) {
	s := newSeller(t, nil)
	path := "/checkout_sessions/" + s.ready("item_mug", 1, anyAgent).body.ID + "/complete"
	ctx, cancel := context.WithCancel(t.Context())
	s.charge = func(psp.Charge) error { cancel(); return nil }
	r := httptest.NewRequestWithContext(ctx, "POST", path, strings.NewReader("{"+card+"}"))
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "API-Version": "2026-04-17", "Idempotency-Key": "pay", "Content-Type": "application/json",
	} {
		r.Header.Set(name, value)
	}
	s.server.ServeHTTP(httptest.NewRecorder(), r)
	again := s.call("POST", path, "{"+card+"}", "Idempotency-Key", "pay")
	s.want("retry", again, 200, "completed", "")
	if again.header.Get("Idempotent-Replayed") != "true" {
		t.Error("the retry was worked on again")
	}
}
