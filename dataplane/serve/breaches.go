package serve

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bindery-dev/bindery/dataplane/call"
)

// maxPlaces is how many places of one tool are counted each on its own, in both
// directions together. Those that turn up later are counted as one, otherPlaces: a
// schema may have more places than a monitor can bear.
const maxPlaces = 100

// otherPlaces is what the label path says of a place that came too late.
const otherPlaces = "other"

// breaches counts bodies that broke their schemas. It is safe for concurrent use.
type breaches struct {
	total *prometheus.CounterVec

	mu     sync.Mutex
	places map[toolAt]map[placeAt]bool // those that have a series
}

// A toolAt is a tool of an endpoint.
type toolAt struct{ endpoint, tool string }

// A placeAt is a place of one of a tool's schemas.
type placeAt struct {
	direction call.Direction
	place     string
}

func newBreaches() *breaches {
	return &breaches{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bindery_node_schema_violations_total",
			Help: "Bodies that broke their schemas, by endpoint, tool, direction (payload, result) and path in the schema. " +
				"After 100 paths of a tool, further ones are counted as \"other\".",
		}, []string{"endpoint", "tool", "direction", "path"}),
		places: map[toolAt]map[placeAt]bool{},
	}
}

func (b *breaches) count(endpoint, tool string, breach call.Breach) {
	path := breach.Place
	if !b.admit(toolAt{endpoint, tool}, placeAt{breach.Direction, path}) {
		path = otherPlaces
	}
	b.total.WithLabelValues(endpoint, tool, string(breach.Direction), path).Inc()
}

// admit reports whether a place has a series, or gets one now.
func (b *breaches) admit(at toolAt, p placeAt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	places := b.places[at]
	if places == nil {
		places = map[placeAt]bool{}
		b.places[at] = places
	}
	if !places[p] && len(places) < maxPlaces {
		places[p] = true
	}
	return places[p]
}

// forget drops what was counted of a tool that is no more.
func (b *breaches) forget(endpoint, tool string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.places, toolAt{endpoint, tool})
	b.total.DeletePartialMatch(prometheus.Labels{"endpoint": endpoint, "tool": tool})
}
