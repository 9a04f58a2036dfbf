package fleet_test

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/examples/fleet/depot"
	"github.com/bindery-dev/bindery/examples/internal/served"
	"github.com/bindery-dev/bindery/internal/testcert"
)

const (
	area  = `{"type":"Polygon","coordinates":[[[13.3,52.4],[13.5,52.4],[13.5,52.6],[13.3,52.4]]]}`
	moved = `{"vin":"VAN2","name":"Van two","status":"moving","odometer_mm":4100}`
)

// steps are calls in their order, on a fleet as it begins.
var steps = []struct {
	tool, args string
	want       string // structured content; "" for none
	code       int    // of the error in place of a result
	data       string // of the error
}{
	{tool: "list_vehicles", args: `{"status":["moving","charging"]}`, want: `{"value":[` + moved + `]}`},
	{tool: "list_vehicles", args: `{"status":["charging"]}`, want: `{"value":[]}`},
	{tool: "get_vehicle", args: `{"vin":"VAN2"}`, want: moved},
	{tool: "get_vehicle", args: `{"vin":"VAN9"}`, code: 1001, data: `{"code":"no_vehicle","message":"The fleet has no such vehicle."}`},
	{tool: "set_geofence", args: `{"vin":"VAN2","name":"Town","area":` + area + `}`, want: `{"name":"Town","area":` + area + `}`},
	{tool: "set_geofence", args: `{"vin":"VAN2","name":"Town","area":{"type":"Polygon","coordinates":[[[200,0]]]}}`, code: -32602},
	{tool: "get_vehicle", args: `{"vin":"VAN2"}`, want: strings.TrimSuffix(moved, "}") + `,"geofence":{"name":"Town","area":` + area + `}}`},
	{tool: "remove_geofence", args: `{"vin":"VAN2"}`},
	{tool: "get_vehicle", args: `{"vin":"VAN2"}`, want: moved},
	{tool: "send_command", args: `{"vin":"VAN2","command":"honk"}`, want: `{"id":"1","state":"accepted"}`},
	{tool: "send_command", args: `{"vin":"VAN2","command":"unlock"}`, code: 1002, data: `{"code":"moving","message":"The vehicle is moving."}`},
	{tool: "send_command", args: `{"vin":"VAN2","command":"fly"}`, code: -32602},
}

// TestTools calls every tool of the module, served by a node, on a fleet. All calls of
// a session share one token.
func TestTools(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			service := depot.New("bindery", "s3cr3t")
			upstream := httptest.NewServer(service)
			defer upstream.Close()
			url := served.Module(t, ".", map[string]string{"fleet-client": "s3cr3t"}, "fleet_url="+upstream.URL)
			play(t, served.Connect(t, url+"/mcp", version))
			if n := service.Issued(); n != 1 {
				t.Errorf("%d tokens were issued", n)
			}
		})
	}
}

func play(t *testing.T, s *mcp.ClientSession) {
	for _, step := range steps {
		got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: step.tool, Arguments: json.RawMessage(step.args)})
		refusal := (*jsonrpc.Error)(nil)
		switch {
		case errors.As(err, &refusal):
			if int(refusal.Code) != step.code || step.data != "" && string(refusal.Data) != step.data {
				t.Errorf("%s %s: error is %d %q %s", step.tool, step.args, refusal.Code, refusal.Message, refusal.Data)
			}
		case err != nil, step.code != 0:
			t.Errorf("%s %s: %v, %v", step.tool, step.args, got, err)
		default:
			served.Hold(t, got, step.want)
		}
	}
}

// TestNumbers holds that a number that no float64 holds arrives as it is.
func TestNumbers(t *testing.T) {
	upstream := httptest.NewServer(depot.New("bindery", "s3cr3t"))
	defer upstream.Close()
	url := served.Module(t, ".", map[string]string{"fleet-client": "s3cr3t"}, "fleet_url="+upstream.URL)
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		text := served.Call(t, s, "get_vehicle", `{"vin":"VAN1"}`).Content[0].(*mcp.TextContent).Text
		if !strings.Contains(text, `"odometer_mm":12345678901234567890`) {
			t.Errorf("text is %s", text)
		}
	})
}

// TestLocation holds that what is accepted says where to look.
func TestLocation(t *testing.T) {
	upstream := httptest.NewServer(depot.New("bindery", "s3cr3t"))
	defer upstream.Close()
	url := served.Module(t, ".", map[string]string{"fleet-client": "s3cr3t"}, "fleet_url="+upstream.URL)
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		got := served.Call(t, s, "send_command", `{"vin":"VAN1","command":"lock"}`)
		if at := got.Meta["example.com/location"]; at != "/v1/vehicles/VAN1/commands/1" {
			t.Errorf("location is %v", at)
		}
	})
}

// TestOutputSchema holds that a list is shown as what it becomes: {value}.
func TestOutputSchema(t *testing.T) {
	url := served.Module(t, ".", map[string]string{"fleet-client": "s3cr3t"})
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			schema, shown := tool.OutputSchema.(map[string]any)
			if want := tool.Name == "list_vehicles" || tool.Name == "get_vehicle"; shown != want {
				t.Errorf("%s shows an output schema: %t", tool.Name, shown)
			}
			if properties, _ := schema["properties"].(map[string]any); tool.Name == "list_vehicles" && properties["value"] == nil {
				t.Errorf("the schema of a list is %v", schema)
			}
		}
	})
}

// TestToken holds what happens to calls around tokens: one that was revoked costs one
// call, and without one the service is not called.
func TestToken(t *testing.T) {
	service := depot.New("bindery", "s3cr3t")
	upstream := httptest.NewServer(service)
	defer upstream.Close()
	tag := "fleet_url=" + upstream.URL
	url := served.Module(t, ".", map[string]string{"fleet-client": "s3cr3t"}, tag)
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		served.Call(t, s, "get_vehicle", `{"vin":"VAN1"}`)
		service.Revoke()
		failing(t, s, 1001, `{"code":"unauthorized","message":"The token is missing or not known."}`)
		served.Call(t, s, "get_vehicle", `{"vin":"VAN1"}`)
	})
	url = served.Module(t, ".", map[string]string{"fleet-client": "wr0ng"}, tag)
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		failing(t, s, 1003, `{"code":"unavailable","message":"The service cannot be asked right now."}`)
	})
}

func failing(t *testing.T, s *mcp.ClientSession, code int64, data string) {
	t.Helper()
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_vehicle", Arguments: json.RawMessage(`{"vin":"VAN1"}`)})
	refusal := (*jsonrpc.Error)(nil)
	if !errors.As(err, &refusal) || refusal.Code != code || string(refusal.Data) != data {
		t.Errorf("error is %v", err)
	}
}

// TestMutualTLS runs the module of production on a fleet that lets in only those with
// a certificate of the company.
func TestMutualTLS(t *testing.T) {
	company, others := testcert.New(t), testcert.New(t)
	upstream := httptest.NewUnstartedServer(depot.New("bindery", "s3cr3t"))
	upstream.TLS = company.Demand(t, net.IPv4(127, 0, 0, 1))
	upstream.Config.ErrorLog = log.New(io.Discard, "", 0)
	upstream.StartTLS()
	defer upstream.Close()
	secrets := func(from *testcert.Authority) map[string]string {
		cert, key := from.Issue(t, "node", nil)
		return map[string]string{"fleet-client": "s3cr3t", "company-ca": company.PEM(), "node-cert": cert, "node-key": key}
	}
	url := served.Module(t, ".", secrets(company), "prod", "fleet_url="+upstream.URL)
	served.Eras(t, url+"/mcp", play)
	url = served.Module(t, ".", secrets(others), "prod", "fleet_url="+upstream.URL)
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		failing(t, s, 1003, `{"code":"unavailable","message":"The service cannot be asked right now."}`)
	})
}
