package merchant

import (
	"context"
	"encoding/json"
	"net/http"

	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/examples/internal/front"
)

// A creation is the body of a create request.
type creation struct {
	changes
	Currency     *string         `json:"currency"`
	Capabilities json.RawMessage `json:"capabilities"`
	Affiliate    *affiliate      `json:"affiliate_attribution"`
	echo
}

// check looks at what can be judged without the catalogue.
func (c *creation) check() *front.Answer {
	switch {
	case c.LineItems == nil:
		return front.Missing("$.line_items")
	case c.Currency == nil:
		return front.Missing("$.currency")
	case c.Capabilities == nil || isNull(c.Capabilities):
		return front.Missing("$.capabilities")
	case c.Selected != nil:
		return front.Invalid("$.selected_fulfillment_options", "There is nothing to select before the session is created.")
	case c.Metadata != nil && c.Metadata[0] != '{':
		return front.Invalid("$.metadata", "The metadata is an object.")
	}
	return c.Affiliate.check("$.affiliate_attribution")
}

// create opens a session.
func (s *Server) create(_ context.Context, c front.Call) *front.Answer {
	var in creation
	if fault := front.Decode(c.Body, &in); fault != nil {
		return fault
	}
	if fault := in.check(); fault != nil {
		return fault
	}
	x := &session{caller: c.Caller, currency: strings.ToLower(*in.Currency), created: s.config.Now().UTC().Truncate(time.Millisecond), echo: in.echo}
	if json.Unmarshal(in.Capabilities, &x.agent) != nil {
		return front.Invalid("$.capabilities", "The capabilities could not be understood.")
	}
	if wait := s.probes.take(c.Caller, in.Capabilities); wait > 0 {
		return rateLimited(wait)
	}
	if fault := in.apply(x, s.config.Products); fault != nil {
		return fault
	}
	if len(x.lines) == 0 {
		return front.Invalid("$.line_items", "A session starts with at least one item.")
	}
	x.id = s.config.NewID("cs_")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(x)
	return front.JSON(http.StatusCreated, s.view(x))
}

func rateLimited(wait time.Duration) *front.Answer {
	a := front.Fail(http.StatusTooManyRequests, front.Error{Code: "rate_limited", Message: "Too many different requests; retry after the time in Retry-After."})
	a.Header.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	return a
}

// An affiliate is who brought the buyer. It is checked and not answered; nobody
// is paid by this sample.
type affiliate struct {
	Provider    string `json:"provider"`
	Token       string `json:"token"`
	PublisherID string `json:"publisher_id"`
}

// UnmarshalJSON ignores members that it does not know, as the protocol wants.
func (a *affiliate) UnmarshalJSON(data []byte) error {
	type open affiliate
	return json.Unmarshal(data, (*open)(a))
}

func (a *affiliate) check(at string) *front.Answer {
	switch {
	case a == nil:
		return nil
	case a.Provider == "":
		return front.Missing(at + ".provider")
	case a.Token == "" && a.PublisherID == "":
		return front.Missing(at + ".publisher_id")
	}
	return nil
}

// store makes x the state of its session. Server.mu is held.
func (s *Server) store(x *session) {
	x.updated = s.config.Now().UTC().Truncate(time.Millisecond)
	x.expires = x.updated.Add(s.config.SessionTTL)
	s.sessions[x.id] = x
}

// find returns a copy of the call's session, to be changed and stored. A session
// of another caller does not exist. Server.mu is held.
func (s *Server) find(c front.Call) (*session, *front.Answer) {
	x, ok := s.sessions[c.ID]
	if !ok || x.caller != c.Caller {
		return nil, front.Fail(http.StatusNotFound, front.Error{Code: "session_not_found", Message: "There is no such checkout session.", Param: "$.id"})
	}
	y := *x
	y.lines, y.selected, y.groups, y.codes = slices.Clone(x.lines), slices.Clone(x.selected), slices.Clone(x.groups), slices.Clone(x.codes)
	return &y, nil
}

func (s *Server) get(_ context.Context, c front.Call) *front.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, fault := s.find(c)
	if fault != nil {
		return fault
	}
	return front.JSON(http.StatusOK, s.view(x))
}

// update changes a session that is not final.
func (s *Server) update(_ context.Context, c front.Call) *front.Answer {
	var in changes
	if fault := front.Decode(c.Body, &in); fault != nil {
		return fault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, fault := s.findOpen(c)
	if fault != nil {
		return fault
	}
	if fault := in.apply(x, s.config.Products); fault != nil {
		return fault
	}
	x.authenticating, x.stopped, x.last, x.pending = false, false, nil, nil
	s.store(x)
	return front.JSON(http.StatusOK, s.view(x))
}

// findOpen is find for operations that only an open session takes. Server.mu is
// held.
func (s *Server) findOpen(c front.Call) (*session, *front.Answer) {
	x, fault := s.find(c)
	switch {
	case fault != nil:
		return nil, fault
	case x.phase == paying:
		a := front.Fail(http.StatusConflict, front.Error{Code: "complete_in_progress", Message: "The payment for this session is being made."})
		a.Header.Set("Retry-After", "1")
		return nil, a
	case x.phase != open || x.expired(s.config.Now()):
		return nil, front.Fail(http.StatusBadRequest, front.Error{
			Code: "invalid_session_state", Message: "The checkout session is completed, canceled or expired.", Param: "$.status",
		})
	}
	return x, nil
}

// cancel gives a session up. One that is final already is 405.
func (s *Server) cancel(_ context.Context, c front.Call) *front.Answer {
	if fault := checkIntent(c.Body); fault != nil {
		return fault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, fault := s.findOpen(c)
	if fault != nil && fault.Status == http.StatusBadRequest {
		fault = front.Fail(http.StatusMethodNotAllowed, front.Error{
			Code: "not_cancelable", Message: "The checkout session is completed, canceled or expired already.", Param: "$.status",
		})
		fault.Header.Set("Allow", http.MethodGet)
	}
	if fault != nil {
		return fault
	}
	x.phase = canceled
	s.store(x)
	return front.JSON(http.StatusOK, s.view(x))
}

// checkIntent reads the reason for a cancellation. Members and reasons that it
// does not know are fine.
func checkIntent(body []byte) *front.Answer {
	if body == nil {
		return nil
	}
	var in struct {
		Intent *struct {
			ReasonCode string `json:"reason_code"`
			Summary    string `json:"trace_summary"`
		} `json:"intent_trace"`
	}
	switch err := json.Unmarshal(body, &in); {
	case err != nil:
		return front.Invalid("$", "The request body could not be understood.")
	case in.Intent != nil && in.Intent.ReasonCode == "":
		return front.Missing("$.intent_trace.reason_code")
	case in.Intent != nil && utf8.RuneCountInString(in.Intent.Summary) > 500:
		return front.Invalid("$.intent_trace.trace_summary", "At most 500 characters.")
	}
	return nil
}
