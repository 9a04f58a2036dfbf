package merchant

import (
	"context"
	"fmt"
	"net/http"

	"github.com/bindery-dev/bindery/examples/internal/front"
)

// This file is the page at which a buyer does what no agent can: authenticate a
// payment. Who knows its address is the buyer; it is good for one payment.

// errands is where the pages are.
const errands = "/errands/"

// errand is the address of the buyer's page for x; "" when there is nothing to do.
func (s *Server) errand(x *session) string {
	if x.pending == nil || s.config.PagesURL == "" {
		return ""
	}
	return s.config.PagesURL + errands + x.page
}

// await keeps what an agent wants to pay with until the buyer is authenticated.
func (s *Server) await(x *session, in *completion) {
	x.pending, x.page = in, s.config.NewID("page_")
}

// serveErrand shows the page, and does what it offers.
func (s *Server) serveErrand(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	id, caller, in := s.waiting(r.PathValue("page"))
	switch {
	case in == nil:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<p>There is nothing to do here any more.</p>")
	case r.Method == http.MethodGet:
		fmt.Fprint(w, `<form method="post"><p>Your bank asks whether it is you.</p><button>It is me</button></form>`)
	default:
		authenticated := *in
		authenticated.Authentication = &authentication{Outcome: "authenticated"}
		a, answer := s.prepare(front.Call{Caller: caller, ID: id}, &authenticated)
		if answer == nil {
			s.pay(context.WithoutCancel(r.Context()), a)
		}
		fmt.Fprint(w, "<p>Thank you. Go back to your assistant.</p>")
	}
}

// waiting returns the session with the page, and what it waits to be paid with; nil for
// none.
func (s *Server) waiting(page string) (id, caller string, in *completion) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		if x.pending != nil && x.page == page && x.phase == open {
			return x.id, x.caller, x.pending
		}
	}
	return "", "", nil
}
