package studio

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
)

// Shelves are where a studio publishes: each has a number of editions. They are safe
// for concurrent use, and the zero value publishes to nobody.
type Shelves struct {
	File string // has the editions, as CUE, for a module that says them; "" for none

	mu       sync.Mutex
	editions map[string]int
}

// put publishes an edition to the shelf of the request.
func (s *Shelves) put(w http.ResponseWriter, r *http.Request) {
	edition, err := s.publish(r.PathValue("name"))
	if err != nil {
		fail(w, http.StatusInternalServerError, "The shelf is out of reach.")
		return
	}
	say(w, http.StatusCreated, map[string]int{"edition": edition})
}

func (s *Shelves) publish(shelf string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.editions == nil {
		s.editions = map[string]int{}
	}
	s.editions[shelf]++
	if s.File == "" {
		return s.editions[shelf], nil
	}
	data, err := json.Marshal(s.editions)
	if err != nil {
		return 0, err
	}
	return s.editions[shelf], os.WriteFile(s.File, fmt.Appendf(nil, "package bindings\n\neditions: %s\n", data), 0o666)
}
