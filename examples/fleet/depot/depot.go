// Package depot is a sample service of a fleet of vehicles, with a token endpoint:
// requests of its REST API come in, answers about vehicles in memory go out.
package depot

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// maxBody is the size, in bytes, of a request's body.
const maxBody = 64 << 10

// lifetime is how long, in seconds, a token says that it is good.
const lifetime = 300

// A Vehicle is one of the fleet.
type Vehicle struct {
	VIN      string      `json:"vin"`
	Name     string      `json:"name"`
	Status   string      `json:"status"` // "moving", "parked" or "charging"
	Odometer json.Number `json:"odometer_mm"`
	Geofence *Geofence   `json:"geofence,omitempty"`
}

// A Geofence is where a vehicle is to stay.
type Geofence struct {
	Name string          `json:"name"`
	Area json.RawMessage `json:"area"` // a GeoJSON polygon
}

// A Server is the service. It may be used concurrently.
type Server struct {
	client, secret string
	mux            *http.ServeMux

	mu       sync.Mutex
	issued   int    // tokens
	valid    string // the token that opens; "" for none
	vehicles []*Vehicle
}

// New returns a service with two vehicles, for one client of its token endpoint.
func New(client, secret string) *Server {
	s := &Server{client: client, secret: secret, mux: http.NewServeMux(), vehicles: []*Vehicle{
		{VIN: "VAN1", Name: "Van one", Status: "parked", Odometer: "12345678901234567890"},
		{VIN: "VAN2", Name: "Van two", Status: "moving", Odometer: "4100"},
	}}
	s.mux.HandleFunc("POST /oauth/token", s.token)
	for pattern, h := range map[string]func(*http.Request) answer{
		"GET /v1/vehicles":                   s.list,
		"GET /v1/vehicles/{vin}":             s.one(show),
		"PUT /v1/vehicles/{vin}/geofence":    s.one(fence),
		"DELETE /v1/vehicles/{vin}/geofence": s.one(free),
		"POST /v1/vehicles/{vin}/commands":   s.one(command),
	} {
		s.mux.Handle(pattern, s.serve(h))
	}
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Issued returns how many tokens were issued.
func (s *Server) Issued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issued
}

// Revoke makes the token that opens one that does not.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.valid = ""
}

// token issues a token to the client (RFC 6749, section 4.4).
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	user, password, _ := r.BasicAuth()
	client, _ := url.QueryUnescape(user)
	secret, _ := url.QueryUnescape(password)
	if client != s.client || secret != s.secret {
		send(w, answer{http.StatusUnauthorized, "", map[string]string{"error": "invalid_client"}})
		return
	}
	if r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("audience") != "fleet" {
		send(w, answer{http.StatusBadRequest, "", map[string]string{"error": "invalid_request"}})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.issued++
	s.valid = fmt.Sprintf("token-%d", s.issued)
	send(w, answer{status: 200, body: map[string]any{"access_token": s.valid, "token_type": "Bearer", "expires_in": lifetime, "scope": r.PostFormValue("scope")}})
}

// An answer is a response: body is sent as JSON unless it is nil.
type answer struct {
	status   int
	location string
	body     any
}

func fail(status int, code, message string) answer {
	return answer{status: status, body: map[string]any{"error": map[string]string{"code": code, "message": message}}}
}

// serve answers those who have the token, one at a time.
func (s *Server) serve(h func(*http.Request) answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		s.mu.Lock()
		defer s.mu.Unlock()
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || s.valid == "" || token != s.valid {
			send(w, fail(http.StatusUnauthorized, "unauthorized", "The token is missing or not known."))
			return
		}
		send(w, h(r))
	})
}

func send(w http.ResponseWriter, a answer) {
	if a.location != "" {
		w.Header().Set("Location", a.location)
	}
	if a.body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	if a.body != nil {
		_ = json.NewEncoder(w).Encode(a.body) // the caller is gone if this fails
	}
}

func (s *Server) list(r *http.Request) answer {
	found := []*Vehicle{}
	for _, v := range s.vehicles {
		if want := r.URL.Query()["status"]; len(want) == 0 || slices.Contains(want, v.Status) {
			found = append(found, v)
		}
	}
	return answer{status: 200, body: found}
}

// one answers with what do makes of the vehicle that the path names.
func (s *Server) one(do func(*Vehicle, *http.Request) answer) func(*http.Request) answer {
	return func(r *http.Request) answer {
		i := slices.IndexFunc(s.vehicles, func(v *Vehicle) bool { return v.VIN == r.PathValue("vin") })
		if i < 0 {
			return fail(http.StatusNotFound, "no_vehicle", "The fleet has no such vehicle.")
		}
		return do(s.vehicles[i], r)
	}
}

func show(v *Vehicle, _ *http.Request) answer { return answer{status: 200, body: v} }

func fence(v *Vehicle, r *http.Request) answer {
	g := &Geofence{}
	if err := json.NewDecoder(r.Body).Decode(g); err != nil || g.Name == "" || g.Area == nil {
		return fail(http.StatusUnprocessableEntity, "bad_geofence", "A geofence has a name and an area.")
	}
	v.Geofence = g
	return answer{status: 200, body: g}
}

func free(v *Vehicle, _ *http.Request) answer {
	v.Geofence = nil
	return answer{status: http.StatusNoContent}
}

// command is carried out some time later.
func command(v *Vehicle, r *http.Request) answer {
	var c struct{ Command string }
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || c.Command == "" {
		return fail(http.StatusUnprocessableEntity, "bad_command", "There is no command.")
	}
	if v.Status == "moving" && c.Command == "unlock" {
		return fail(http.StatusConflict, "moving", "The vehicle is moving.")
	}
	return answer{http.StatusAccepted, "/v1/vehicles/" + v.VIN + "/commands/1", map[string]string{"id": "1", "state": "accepted"}}
}
