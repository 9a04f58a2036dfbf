package issues_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/examples/internal/served"
	"github.com/bindery-dev/bindery/examples/issues/tracker"
)

const (
	engine = `{"number":1,"title":"Engine does not start","body":"It only hums.","state":"open","labels":["bug","engine"],"assignee":{"login":"wile"}}`
	paint  = `{"number":2,"title":"Paint it red","body":"","state":"closed","labels":["wish"],"assignee":null}`
	fuse   = `{"number":3,"title":"Fuse burns too fast","body":"","state":"open","labels":["bug"],"assignee":null}`
)

// steps are calls in their order, on a tracker as it begins. Each is about a
// repository of acme.
var steps = []struct {
	tool, args string // args without owner and repo
	want       string // structured content; "" for none
	failed     bool
}{
	{tool: "list_issues", want: `{"issues":[` + engine + `,` + paint + `,` + fuse + `]}`},
	{tool: "list_issues", args: `,"state":["closed","open"],"limit":2`, want: `{"issues":[` + engine + `,` + paint + `],"next_cursor":"2"}`},
	{tool: "list_issues", args: `,"state":["closed","open"],"limit":2,"cursor":"2"`, want: `{"issues":[` + fuse + `]}`},
	{tool: "list_issues", args: `,"labels":["bug","engine"],"assignee":"wile"`, want: `{"issues":[` + engine + `]}`},
	{tool: "list_issues", args: `,"labels":["a,b"]`, want: `{"issues":[]}`},
	{tool: "list_issues", args: `,"cursor":"x"`, failed: true,
		want: `{"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The cursor is not one of this list."}`},
	{tool: "get_issue", args: `,"number":1`, want: engine},
	{tool: "get_issue", args: `,"number":9`, failed: true, want: `{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no such issue."}`},

	{tool: "open_issue", args: `,"title":"Wheel squeaks","text":"All day.","labels":["wheel"],"assignee":"acme"`,
		want: `{"number":4,"title":"Wheel squeaks","body":"All day.","state":"open","labels":["wheel"],"assignee":{"login":"acme"}}`},
	{tool: "open_issue", args: `,"title":"Door sticks"`, want: `{"number":5,"title":"Door sticks","body":"","state":"open","labels":[],"assignee":null}`},

	{tool: "change_issue", args: `,"number":4,"title":"Wheel squeals"`,
		want: `{"number":4,"title":"Wheel squeals","body":"All day.","state":"open","labels":["wheel"],"assignee":{"login":"acme"}}`},
	{tool: "change_issue", args: `,"number":4,"assignee":null`,
		want: `{"number":4,"title":"Wheel squeals","body":"All day.","state":"open","labels":["wheel"],"assignee":null}`},
	{tool: "change_issue", args: `,"number":4,"state":"closed","assignee":{"login":"road"}`,
		want: `{"number":4,"title":"Wheel squeals","body":"All day.","state":"closed","labels":["wheel"],"assignee":{"login":"road"}}`},

	{tool: "lock_issue", args: `,"number":4,"reason":"resolved"`},
	{tool: "change_issue", args: `,"number":4,"state":"open"`, failed: true,
		want: `{"type":"about:blank","title":"Conflict","status":409,"detail":"The issue is locked.","hint":"Unlock the issue first, with unlock_issue."}`},
	{tool: "unlock_issue", args: `,"number":4`},
	{tool: "change_issue", args: `,"number":4,"state":"open"`,
		want: `{"number":4,"title":"Wheel squeals","body":"All day.","state":"open","labels":["wheel"],"assignee":{"login":"road"}}`},
}

// TestTools calls every tool of the module, served by a node, on a tracker.
func TestTools(t *testing.T) {
	var service *tracker.Server
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { service.ServeHTTP(w, r) }))
	defer upstream.Close()
	url := served.Module(t, ".", map[string]string{"tracker-key": "k"}, "tracker_url="+upstream.URL+"/api")
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		service = tracker.New("k")
		for _, step := range steps {
			got := served.Call(t, s, step.tool, `{"owner":"acme","repo":"rockets"`+step.args+`}`)
			if served.Hold(t, got, step.want); got.IsError != step.failed {
				t.Errorf("%s %s: isError is %t", step.tool, step.args, got.IsError)
			}
		}
	})
}

// TestCursor holds that the cursor of a page is in _meta, too, and gone on the last.
func TestCursor(t *testing.T) {
	upstream := httptest.NewServer(tracker.New("k"))
	defer upstream.Close()
	url := served.Module(t, ".", map[string]string{"tracker-key": "k"}, "tracker_url="+upstream.URL+"/api")
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		meta := served.Call(t, s, "list_issues", `{"owner":"acme","repo":"rockets","limit":2}`).Meta
		if meta["example.com/next-cursor"] != "2" || meta["example.com/link"] != "</api/repos/acme/rockets/issues?cursor=2&limit=2>; rel=next" {
			t.Errorf("_meta is %v", meta)
		}
		meta = served.Call(t, s, "list_issues", `{"owner":"acme","repo":"rockets","limit":2,"cursor":"2"}`).Meta
		if _, ok := meta["example.com/next-cursor"]; ok {
			t.Errorf("_meta of the last page is %v", meta)
		}
	})
}

// TestKey holds that a key that the tracker does not know is its error, in its words.
func TestKey(t *testing.T) {
	upstream := httptest.NewServer(tracker.New("other"))
	defer upstream.Close()
	url := served.Module(t, ".", map[string]string{"tracker-key": "k"}, "tracker_url="+upstream.URL+"/api")
	served.Eras(t, url+"/mcp", func(t *testing.T, s *mcp.ClientSession) {
		got := served.Call(t, s, "get_issue", `{"owner":"acme","repo":"rockets","number":1}`)
		served.Hold(t, got, `{"type":"about:blank","title":"Unauthorized","status":401,"detail":"The key is missing or not known."}`)
	})
}
