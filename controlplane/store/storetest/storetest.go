// Package storetest holds what every backend of the store has to do: a way to open
// an empty one goes in, failed tests come out.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bindery-dev/bindery/controlplane/store"
)

// Run tests a backend. open returns an empty one, which Run closes; each call
// returns another.
func Run(t *testing.T, open func(t *testing.T) store.KV) {
	tests := []struct {
		name string
		run  func(*testing.T, store.KV)
	}{
		{"get", get},
		{"values are copies", copies},
		{"list", list},
		{"list stays within its prefix", prefix},
		{"a condition that fails stops all of a transaction", conditions},
		{"what a transaction may hold", limits},
		{"a context that is done", canceled},
		{"one of many wins", race},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kv := open(t)
			defer func() {
				if err := kv.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}()
			tt.run(t, kv)
		})
	}
}

func pair(key, value string) store.Pair { return store.Pair{Key: key, Value: []byte(value)} }

func put(t *testing.T, kv store.KV, pairs ...store.Pair) {
	t.Helper()
	if err := kv.Commit(t.Context(), store.Txn{Put: pairs}); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func wantValue(t *testing.T, kv store.KV, key, want string) {
	t.Helper()
	v, found, err := kv.Get(t.Context(), key)
	if err != nil || !found || string(v) != want {
		t.Errorf("Get(%q) = %q, %t, %v; want %q", key, v, found, err, want)
	}
}

func wantNone(t *testing.T, kv store.KV, key string) {
	t.Helper()
	if v, found, err := kv.Get(t.Context(), key); found || err != nil {
		t.Errorf("Get(%q) = %q, %t, %v; want none", key, v, found, err)
	}
}

func get(t *testing.T, kv store.KV) {
	wantNone(t, kv, "a")
	large := string(bytes.Repeat([]byte{0, 0xff}, 256<<10))
	put(t, kv, pair("a", "1"), pair("empty", ""), pair("large", large))
	wantValue(t, kv, "a", "1")
	wantValue(t, kv, "empty", "")
	wantValue(t, kv, "large", large)
	put(t, kv, pair("a", "2"))
	wantValue(t, kv, "a", "2")
	wantNone(t, kv, "")
	wantNone(t, kv, "aa")
}

func copies(t *testing.T, kv store.KV) {
	value := []byte("one")
	put(t, kv, store.Pair{Key: "a", Value: value})
	copy(value, "two")
	got, _, _ := kv.Get(t.Context(), "a")
	copy(got, "six")
	listed, _ := kv.List(t.Context(), "a", "", 1)
	if len(listed) == 1 {
		copy(listed[0].Value, "ten")
	}
	wantValue(t, kv, "a", "one")
}

func list(t *testing.T, kv store.KV) {
	put(t, kv, pair("p/1", "one"), pair("p/2", "two"), pair("p/3", "three"), pair("p/10", "ten"))
	tests := []struct {
		before string
		limit  int
		want   string
	}{
		{"", 10, "p/3=three p/2=two p/10=ten p/1=one "},
		{"", 2, "p/3=three p/2=two "},
		{"p/3", 10, "p/2=two p/10=ten p/1=one "},
		{"p/2", 1, "p/10=ten "},
		{"p/25", 1, "p/2=two "},
		{"p/1", 10, ""},
		{"p/9", 1, "p/3=three "},
		{"q", 1, "p/3=three "},
		{"o", 1, ""},
	}
	for _, tt := range tests {
		if got := listed(t, kv, "p/", tt.before, tt.limit); got != tt.want {
			t.Errorf("List(p/, %q, %d) = %q, want %q", tt.before, tt.limit, got, tt.want)
		}
	}
}

func prefix(t *testing.T, kv store.KV) {
	if got := listed(t, kv, "p/", "", 10); got != "" {
		t.Errorf("List of nothing = %q", got)
	}
	put(t, kv, pair("o/1", ""), pair("p", ""), pair("p/1", ""), pair("p0", ""), pair("q/1", ""))
	if got, want := listed(t, kv, "p/", "", 10), "p/1= "; got != want {
		t.Errorf("List(p/) = %q, want %q", got, want)
	}
	if got, want := listed(t, kv, "q/", "", 10), "q/1= "; got != want {
		t.Errorf("List of the last prefix = %q, want %q", got, want)
	}
	if got := listed(t, kv, "r/", "", 10); got != "" {
		t.Errorf("List behind the last key = %q", got)
	}
}

func listed(t *testing.T, kv store.KV, prefix, before string, limit int) string {
	t.Helper()
	pairs, err := kv.List(t.Context(), prefix, before, limit)
	if err != nil {
		t.Errorf("List: %v", err)
	}
	text := ""
	for _, p := range pairs {
		text += fmt.Sprintf("%s=%s ", p.Key, p.Value)
	}
	return text
}

func conditions(t *testing.T, kv store.KV) {
	put(t, kv, pair("a", "1"), pair("empty", ""))
	for _, c := range []store.Condition{
		{Key: "a"},                           // there is one
		{Key: "a", Value: []byte("2")},       // it is another
		{Key: "a", Value: []byte{}},          // it is not empty
		{Key: "none", Value: []byte("1")},    // there is none
		{Key: "none", Value: []byte{}},       // not even an empty one
		{Key: "empty"},                       // an empty value is one
		{Key: "empty", Value: []byte("no")},  // and it is empty
		{Key: "a/b", Value: []byte("1")},     // another key
		{Key: "", Value: []byte("anything")}, // no key
	} {
		txn := store.Txn{
			If:  []store.Condition{{Key: "a", Value: []byte("1")}, c},
			Put: []store.Pair{pair("a", "changed"), pair("new", "made")},
		}
		if err := kv.Commit(t.Context(), txn); !errors.Is(err, store.ErrConflict) {
			t.Errorf("Commit if %q = %q: %v, want ErrConflict", c.Key, c.Value, err)
		}
	}
	wantValue(t, kv, "a", "1")
	wantNone(t, kv, "new")
	err := kv.Commit(t.Context(), store.Txn{
		If:  []store.Condition{{Key: "a", Value: []byte("1")}, {Key: "empty", Value: []byte{}}, {Key: "new"}},
		Put: []store.Pair{pair("a", "2"), pair("new", "made")},
	})
	if err != nil {
		t.Errorf("Commit with conditions that hold: %v", err)
	}
	wantValue(t, kv, "a", "2")
	wantValue(t, kv, "new", "made")
}

func limits(t *testing.T, kv store.KV) {
	var txn store.Txn
	for i := range store.MaxOps {
		txn.Put = append(txn.Put, pair(fmt.Sprintf("k/%03d", i), "v"))
	}
	if err := kv.Commit(t.Context(), txn); err != nil {
		t.Errorf("Commit of %d puts: %v", store.MaxOps, err)
	}
	txn.If = []store.Condition{{Key: "none"}}
	if err := kv.Commit(t.Context(), txn); err == nil || errors.Is(err, store.ErrConflict) {
		t.Errorf("Commit of %d operations: %v", store.MaxOps+1, err)
	}
	full := store.Txn{Put: []store.Pair{{Key: "f", Value: make([]byte, store.MaxBytes-1)}}}
	if err := kv.Commit(t.Context(), full); err != nil {
		t.Errorf("Commit of %d bytes: %v", store.MaxBytes, err)
	}
	full.Put = append(full.Put, pair("g", ""))
	if err := kv.Commit(t.Context(), full); err == nil {
		t.Errorf("Commit of %d bytes succeeded", store.MaxBytes+1)
	}
	wantNone(t, kv, "g")
}

func canceled(t *testing.T, kv store.KV) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := kv.Commit(ctx, store.Txn{Put: []store.Pair{pair("a", "1")}}); err == nil {
		t.Error("Commit succeeded")
	}
	if _, _, err := kv.Get(ctx, "a"); err == nil {
		t.Error("Get succeeded")
	}
	if _, err := kv.List(ctx, "a", "", 1); err == nil {
		t.Error("List succeeded")
	}
	wantNone(t, kv, "a")
}

func race(t *testing.T, kv store.KV) {
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			err := kv.Commit(t.Context(), store.Txn{If: []store.Condition{{Key: "a"}}, Put: []store.Pair{pair("a", fmt.Sprint(i))}})
			switch {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, store.ErrConflict):
				t.Errorf("Commit: %v", err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of 16 won", won.Load())
	}
}
