// Package tracker is a sample issue tracker: requests of a REST API as such services
// have come in, answers about issues in memory go out.
package tracker

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxBody is the size, in bytes, of a request's body.
const maxBody = 1 << 20

// An Issue is one of a repository.
type Issue struct {
	Number     int      `json:"number"`
	Title      string   `json:"title"`
	Body       string   `json:"body"`
	State      string   `json:"state"` // "open" or "closed"
	Labels     []string `json:"labels"`
	Assignee   *Person  `json:"assignee"`
	LockReason string   `json:"lock_reason,omitempty"` // of an issue that is locked
}

// A Person can be assigned to issues.
type Person struct {
	Login string `json:"login"`
}

// A Server is the tracker. It may be used concurrently.
type Server struct {
	key string
	mux *http.ServeMux

	mu     sync.Mutex
	issues map[string][]*Issue // by "owner/repo", by number
}

// New returns a tracker with the issues of acme/rockets, for callers that know key.
func New(key string) *Server {
	s := &Server{key: key, mux: http.NewServeMux(), issues: map[string][]*Issue{"acme/rockets": {
		{Number: 1, Title: "Engine does not start", Body: "It only hums.", State: "open", Labels: []string{"bug", "engine"}, Assignee: &Person{"wile"}},
		{Number: 2, Title: "Paint it red", State: "closed", Labels: []string{"wish"}},
		{Number: 3, Title: "Fuse burns too fast", State: "open", Labels: []string{"bug"}},
	}}}
	for pattern, h := range map[string]handler{
		"GET /api/repos/{owner}/{repo}/issues":                  s.list,
		"POST /api/repos/{owner}/{repo}/issues":                 s.open,
		"GET /api/repos/{owner}/{repo}/issues/{number}":         s.one(show),
		"PATCH /api/repos/{owner}/{repo}/issues/{number}":       s.one(change),
		"PUT /api/repos/{owner}/{repo}/issues/{number}/lock":    s.one(lock),
		"DELETE /api/repos/{owner}/{repo}/issues/{number}/lock": s.one(unlock),
	} {
		s.mux.Handle(pattern, s.serve(h))
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { send(w, fail(404, "There is nothing at this path.")) })
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// An answer is a response: body is sent as JSON unless it is nil.
type answer struct {
	status int
	header map[string]string
	body   any
}

type handler func(r *http.Request) answer

// A problem is an error (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func fail(status int, detail string) answer {
	return answer{status, map[string]string{"Content-Type": "application/problem+json"},
		problem{"about:blank", http.StatusText(status), status, detail}}
}

// serve answers those who know the key, one at a time.
func (s *Server) serve(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Tracker-Key")), []byte(s.key)) != 1 {
			send(w, fail(http.StatusUnauthorized, "The key is missing or not known."))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		s.mu.Lock()
		defer s.mu.Unlock()
		send(w, h(r))
	})
}

func send(w http.ResponseWriter, a answer) {
	if a.body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	if a.body != nil {
		_ = json.NewEncoder(w).Encode(a.body) // the caller is gone if this fails
	}
}

// list answers with a page of the issues that match every filter.
func (s *Server) list(r *http.Request) answer {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil {
		limit = 10
	}
	after, err := strconv.Atoi("0" + q.Get("cursor"))
	if err != nil {
		return fail(http.StatusUnprocessableEntity, "The cursor is not one of this list.")
	}
	page := []*Issue{}
	for _, issue := range s.issues[repo(r)] {
		if issue.Number <= after || !matches(issue, q) {
			continue
		}
		if len(page) == limit {
			return more(r.URL, page)
		}
		page = append(page, issue)
	}
	return answer{status: 200, body: map[string]any{"issues": page}}
}

// more is a page after which there is another.
func more(u *url.URL, page []*Issue) answer {
	cursor := strconv.Itoa(page[len(page)-1].Number)
	next := *u
	q := next.Query()
	q.Set("cursor", cursor)
	next.RawQuery = q.Encode()
	return answer{200, map[string]string{"X-Next-Cursor": cursor, "Link": fmt.Sprintf("<%s>; rel=next", &next)},
		map[string]any{"issues": page, "next_cursor": cursor}}
}

func matches(issue *Issue, q url.Values) bool {
	if states := q["state"]; len(states) > 0 && !slices.Contains(states, issue.State) {
		return false
	}
	for label := range strings.SplitSeq(q.Get("labels"), ",") {
		if label != "" && !slices.Contains(issue.Labels, label) {
			return false
		}
	}
	return q.Get("assignee") == "" || issue.Assignee != nil && issue.Assignee.Login == q.Get("assignee")
}

func repo(r *http.Request) string { return r.PathValue("owner") + "/" + r.PathValue("repo") }

func (s *Server) open(r *http.Request) answer {
	issue := &Issue{State: "open", Labels: []string{}}
	if err := json.NewDecoder(r.Body).Decode(issue); err != nil || issue.Title == "" {
		return fail(http.StatusUnprocessableEntity, "An issue has a title.")
	}
	known := s.issues[repo(r)]
	issue.Number = len(known) + 1
	s.issues[repo(r)] = append(known, issue)
	return answer{201, map[string]string{"Location": fmt.Sprintf("%s/%d", r.URL.Path, issue.Number)}, issue}
}

// one answers with what do makes of the issue that the path names.
func (s *Server) one(do func(*Issue, *http.Request) answer) handler {
	return func(r *http.Request) answer {
		for _, issue := range s.issues[repo(r)] {
			if strconv.Itoa(issue.Number) == r.PathValue("number") {
				return do(issue, r)
			}
		}
		return fail(http.StatusNotFound, "There is no such issue.")
	}
}

func show(issue *Issue, _ *http.Request) answer { return answer{status: 200, body: issue} }

// change sets what the body has. A null assignee is nobody; one that is absent stays.
func change(issue *Issue, r *http.Request) answer {
	if issue.LockReason != "" {
		return fail(http.StatusConflict, "The issue is locked.")
	}
	changed := *issue
	if err := json.NewDecoder(r.Body).Decode(&changed); err != nil || changed.Number != issue.Number || changed.Title == "" {
		return fail(http.StatusUnprocessableEntity, "An issue has a title, and keeps its number.")
	}
	*issue = changed
	return answer{status: 200, body: issue}
}

func lock(issue *Issue, r *http.Request) answer {
	var why struct{ Reason string }
	if err := json.NewDecoder(r.Body).Decode(&why); err != nil || why.Reason == "" {
		return fail(http.StatusUnprocessableEntity, "A lock has a reason.")
	}
	issue.LockReason = why.Reason
	return answer{status: http.StatusNoContent}
}

func unlock(issue *Issue, _ *http.Request) answer {
	issue.LockReason = ""
	return answer{status: http.StatusNoContent}
}
