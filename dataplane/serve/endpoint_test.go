package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestUncoded has the SDK answer with an error that is not made for clients: they get an
// internal one, and the log has none of its text. A notification gets no answer.
func TestUncoded(t *testing.T) {
	proof.Ran(t)
	log := &lines{}
	e := New(Config{Log: slog.New(slog.NewJSONHandler(log, nil))}).newEndpoint("/library")
	for _, tt := range []struct {
		method string
		err    error
		want   string
		logged int
	}{
		{"ping", errors.New("secret-marker"), "internal error", 1},
		{"ping", fmt.Errorf("ping: %w", &jsonrpc.Error{Message: "secret-marker"}), "internal error", 1},
		{"ping", &jsonrpc.Error{Code: -7, Message: "no"}, "no", 0},
		{"notifications/initialized", errors.New("too late"), "too late", 0},
	} {
		before := len(log.all())
		_, err := e.survive(func(context.Context, string, mcp.Request) (mcp.Result, error) {
			return (*mcp.InitializeResult)(nil), tt.err
		})(t.Context(), tt.method, nil)
		if err == nil || err.Error() != tt.want || len(log.all())-before != tt.logged {
			t.Errorf("%s with %v becomes %v, and the log has %s", tt.method, tt.err, err, log.all()[before:])
		}
	}
	if said := strings.Join(log.all(), ""); strings.Contains(said, "secret-marker") {
		t.Errorf("the log has %s", said)
	}
}
