// Package idempotency remembers the answers that were given to requests with an
// idempotency key: a request and its key come in, and out comes either the
// permission to work on it or the answer to give instead.
//
// The rules are the protocol's: a key belongs to one caller and one path; the
// same key with an equal body gets the first answer again, with another body it
// is a conflict for good, and while the first request is worked on it has to
// wait. An answer that only says "not now" is not kept, so that a retry is a new
// request: those that the server is to blame for (5xx, by the protocol), and
// those about a moment that passes (409, 429).
package idempotency

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

var (
	// ErrInFlight says that an equal request with this key is being worked on.
	ErrInFlight = errors.New("idempotency: a request with this key is in flight")
	// ErrConflict says that this key came with another body before.
	ErrConflict = errors.New("idempotency: the key was used with another body")
)

// Keep is how long an answer is remembered, as the protocol demands.
const Keep = 24 * time.Hour

// An Answer is a complete HTTP response.
type Answer struct {
	Status int
	Header http.Header // nil: none
	Body   []byte      // nil: none
}

// A Key names one logical request. Equal keys of different callers or paths
// have nothing to do with each other.
type Key struct {
	Caller string // who was authenticated
	Path   string
	Value  string // the Idempotency-Key header
}

// A Store remembers answers in memory. It may be used concurrently.
type Store struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[Key]*entry
	order   []Key // by age, oldest first
}

type entry struct {
	print  [32]byte
	born   time.Time
	answer *Answer // nil: in flight
}

// NewStore returns an empty store that tells time by now.
func NewStore(now func() time.Time) *Store {
	return &Store{now: now, entries: map[Key]*entry{}}
}

// Begin says what to do with a request. The answer is not nil when this request
// was answered before; the caller may not change it. With neither an answer nor
// an error the caller must do the work and call done exactly once; done keeps
// the answer or, when it is nil or says "not now", forgets the key.
//
// The error is [ErrInFlight] or [ErrConflict].
func (s *Store) Begin(key Key, body []byte) (answer *Answer, done func(*Answer), err error) {
	print := Fingerprint(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if e, ok := s.entries[key]; ok {
		switch {
		case e.print != print:
			return nil, nil, ErrConflict
		case e.answer == nil:
			return nil, nil, ErrInFlight
		}
		return e.answer, nil, nil
	}
	e := &entry{print: print, born: s.now()}
	s.entries[key] = e
	s.order = append(s.order, key)
	return nil, func(a *Answer) { s.finish(key, e, a) }, nil
}

func (s *Store) finish(key Key, e *entry, a *Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a != nil && !notNow(a.Status) {
		e.answer = a
		return
	}
	if s.entries[key] == e {
		delete(s.entries, key)
	}
}

func notNow(status int) bool {
	return status >= 500 || status == http.StatusConflict || status == http.StatusTooManyRequests
}

// expire forgets what is older than Keep. A key that failed and came again is
// in order twice; its older place is skipped.
func (s *Store) expire() {
	limit := s.now().Add(-Keep)
	for len(s.order) > 0 {
		key := s.order[0]
		e, ok := s.entries[key]
		if ok && e.born.After(limit) {
			return
		}
		if ok && e.answer != nil {
			delete(s.entries, key)
		}
		s.order = s.order[1:]
	}
}
