package idempotency

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestFingerprint(t *testing.T) {
	tests := []struct {
		name, a, b string
		equal      bool
	}{
		{"order of members", `{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{"whitespace", `{"a":[1,2]}`, "{ \"a\" :\n[1, 2] }", true},
		{"escapes", `{"a":"\u0041"}`, `{"a":"A"}`, true},
		{"trailing zeros", `{"a":1.0}`, `{"a":1}`, true},
		{"exponents", `[100, 1.5, 0.001]`, `[1e2, 15e-1, 1E-3]`, true},
		{"zeros", `[0, -0, 0.00]`, `[0.0, 0e5, 0]`, true},
		{"order of elements", `[1,2]`, `[2,1]`, false},
		{"null is not absent", `{"a":null}`, `{}`, false},
		{"text is not a number", `{"a":"1"}`, `{"a":1}`, false},
		{"sign", `-1`, `1`, false},
		{"power", `10`, `1`, false},
		{"long integers", `12345678901234567890`, `12345678901234567891`, false},
		{"no body is not an empty one", ``, `{}`, false},
		{"not JSON", `{`, `{ `, false},
		{"two values", `1 2`, `1`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Fingerprint([]byte(tt.a)) == Fingerprint([]byte(tt.b)); got != tt.equal {
				t.Errorf("%s and %s: equal %t, want %t", tt.a, tt.b, got, tt.equal)
			}
		})
	}
}

func TestBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStore(time.Now)
		key := Key{Caller: "agent", Path: "/a", Value: "k"}
		answer, done, err := s.Begin(key, []byte(`{"a":1,"b":2}`))
		if answer != nil || err != nil {
			t.Fatalf("first request: %v, %v; want permission", answer, err)
		}
		if _, _, err := s.Begin(key, []byte(`{"b":2,"a":1}`)); !errors.Is(err, ErrInFlight) {
			t.Errorf("equal request in flight: %v, want %v", err, ErrInFlight)
		}
		if _, _, err := s.Begin(key, []byte(`{}`)); !errors.Is(err, ErrConflict) {
			t.Errorf("other request in flight: %v, want %v", err, ErrConflict)
		}
		done(&Answer{Status: 201, Header: http.Header{"X": {"1"}}, Body: []byte("made")})
		if answer, _, err := s.Begin(key, []byte(`{"b":2,"a":1}`)); err != nil || answer == nil || string(answer.Body) != "made" {
			t.Errorf("again: %v, %v; want the first answer", answer, err)
		}
		if _, _, err := s.Begin(key, []byte(`{}`)); !errors.Is(err, ErrConflict) {
			t.Errorf("other body: %v, want %v", err, ErrConflict)
		}
		for _, other := range []Key{{"someone", "/a", "k"}, {"agent", "/b", "k"}, {"agent", "/a", "l"}} {
			if answer, _, err := s.Begin(other, []byte(`{}`)); answer != nil || err != nil {
				t.Errorf("%v: %v, %v; want permission", other, answer, err)
			}
		}
		time.Sleep(Keep)
		if answer, _, err := s.Begin(key, []byte(`{}`)); answer != nil || err != nil {
			t.Errorf("a day later: %v, %v; want permission", answer, err)
		}
	})
}

func TestNotNowIsForgotten(t *testing.T) {
	s := NewStore(time.Now)
	key := Key{"agent", "/a", "k"}
	for _, failed := range []*Answer{{Status: 500}, {Status: 503}, {Status: 409}, {Status: 429}, nil} {
		_, done, err := s.Begin(key, nil)
		if err != nil {
			t.Fatal(err)
		}
		done(failed)
	}
	_, done, err := s.Begin(key, []byte(`{"another":"body"}`))
	if err != nil {
		t.Fatalf("after failures: %v, want permission", err)
	}
	done(&Answer{Status: 404})
	if answer, _, err := s.Begin(key, []byte(`{"another":"body"}`)); err != nil || answer == nil || answer.Status != 404 {
		t.Errorf("after a 404: %v, %v; want it again", answer, err)
	}
}

// TestConcurrent: of many equal requests at once exactly one is worked on.
func TestConcurrent(t *testing.T) {
	s := NewStore(time.Now)
	var worked, refused atomic.Int32
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			_, done, err := s.Begin(Key{"agent", "/a", "k"}, fmt.Appendf(nil, `{"a":%d}`, i/100))
			switch {
			case err != nil:
				refused.Add(1)
			case done != nil:
				worked.Add(1)
			}
		})
	}
	wg.Wait()
	if worked.Load() != 1 || refused.Load() != 49 {
		t.Errorf("%d worked on it, %d were refused; want 1 and 49", worked.Load(), refused.Load())
	}
}

// FuzzFingerprint: any JSON has the fingerprint of itself indented, and no input
// costs more than its size.
func FuzzFingerprint(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.50,"x"],"b":null}`, `1e999999999`, `1e99999999999999999999`, `-0.0`, `{`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		padded := append(append([]byte(" \n"), data...), '\t')
		if json.Valid(data) && Fingerprint(data) != Fingerprint(padded) {
			t.Errorf("%q: whitespace changed the fingerprint", data)
		}
	})
}
