package front

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	type inner struct {
		Count int `json:"count"`
	}
	type outer struct {
		Name  string  `json:"name"`
		Inner inner   `json:"inner"`
		List  []inner `json:"list"`
	}
	tests := []struct{ name, body, param string }{
		{"good", `{"name":"n","inner":{"count":1},"list":[{"count":2}]}`, ""},
		{"null", `{"name":null,"list":null}`, ""},
		{"type", `{"name":1}`, "$.a.name"},
		{"type inside", `{"inner":{"count":"MARKER"}}`, "$.a.inner.count"},
		{"number that does not fit", `{"inner":{"count":99999999999999999999}}`, "$.a.inner.count"},
		{"unknown", `{"nam":"MARKER"}`, "$.a..nam"},
		{"unknown inside", `{"list":[{"coun":1}]}`, "$.a..coun"},
		{"unknown, odd name", `{"MARKER ' \" MARKER":1}`, "$.a"},
		{"not an object", `["MARKER"]`, "$.a"},
		{"not JSON", `{MARKER`, "$.a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := DecodeAt("$.a", []byte(tt.body), new(outer))
			if answer == nil {
				if tt.param != "" {
					t.Errorf("accepted, want an error at %s", tt.param)
				}
				return
			}
			var e Error
			if err := json.Unmarshal(answer.Body, &e); err != nil {
				t.Fatal(err)
			}
			if answer.Status != 400 || e.Type != InvalidRequest || e.Param != tt.param {
				t.Errorf("%d %s, want 400 at %q", answer.Status, answer.Body, tt.param)
			}
			if strings.Contains(string(answer.Body), "MARKER") || strings.Contains(string(answer.Body), "99999") {
				t.Errorf("the answer has what was sent: %s", answer.Body)
			}
		})
	}
}
