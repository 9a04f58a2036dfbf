package acp_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

const (
	inFlight = `{"type":"invalid_request","code":"idempotency_in_flight","message":"Wait"}`
	conflict = `{"type":"invalid_request","code":"idempotency_conflict","message":"Another payload"}`
)

// TestInFlight holds what is sent again: a request with a key that the merchant is
// still busy with, as it was; and what is not.
func TestInFlight(t *testing.T) {
	record.Ran(t)
	const key = `"meta":{"api_version":"2026-04-17","idempotency_key":"k-1"},"id":"cs_1"`
	tests := []struct {
		name     string
		args     string
		before   []before
		requests int
		err      string // "" for a result
	}{
		{"once", key, []before{{409, inFlight, ""}}, 2, ""},
		{"wrapped", key, []before{{409, `{"error":` + inFlight + `}`, "0"}}, 2, ""},
		{"without end", key, []before{{409, inFlight, ""}, {409, inFlight, ""}, {409, inFlight, ""}}, 3, inFlight},
		{"for long", key, []before{{409, inFlight, "30"}}, 1, inFlight},
		{"without a key", meta + `,"id":"cs_1"`, []before{{409, inFlight, ""}}, 1, inFlight},
		{"another payload", key, []before{{422, conflict, ""}}, 1, conflict},
		{"a service that is down", key, []before{{503, `{"type":"service_unavailable","code":"down","message":"Down"}`, "1"}}, 1, `{"type":"service_unavailable","code":"down","message":"Down"}`},
	}
	s := open(t)
	for _, tt := range tests {
		for _, modern := range []bool{false, true} {
			s.status, s.answer, s.before, s.got = 200, session, tt.before, nil
			got := s.rpc(t, modern, "/mcp", "tools/call", "cancel_checkout_session", `{"name":"cancel_checkout_session","arguments":{`+tt.args+`}`)
			if len(s.got) != tt.requests {
				t.Errorf("%s: the merchant got %d requests, want %d", tt.name, len(s.got), tt.requests)
			}
			for _, again := range s.got {
				if !reflect.DeepEqual(again, s.got[0]) {
					t.Errorf("%s: %v is not the first request, %v", tt.name, again, s.got[0])
				}
			}
			data := json.RawMessage(nil)
			if got.Error != nil {
				data = got.Error.Data
			}
			if !bytes.Equal(data, []byte(tt.err)) {
				t.Errorf("%s: the error is %s, want %s", tt.name, data, tt.err)
			}
		}
	}
}
