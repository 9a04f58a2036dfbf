package trial

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-dev/bindery/cue/cases"
	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/dataplane/call"
	"github.com/bindery-dev/bindery/dataplane/secret"
	"github.com/bindery-dev/bindery/dataplane/serve"
	"github.com/bindery-dev/bindery/dataplane/table"
	"github.com/bindery-dev/bindery/examples/acp"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A network is a node behind MCP over HTTP and an upstream in front of it, which
// plays a case and keeps what it got.
type network struct {
	node  string
	stage *stage

	mu      sync.Mutex
	playing *cases.Case
	got     []*received
}

// play begins a case.
func (n *network) play(c *cases.Case) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.playing, n.got = c, nil
}

func (n *network) now() time.Time { return n.current().Now }
func (n *network) uuid() string   { return n.current().UUID }

func (n *network) current() *cases.Case {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.playing
}

func (n *network) received() []*received {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.got
}

// TestANodeAgrees holds that a case runs what a node runs: the cases of the example
// module, and of modules with other things than tools, each asked by an MCP client of a
// node that has a network, get what they get offline.
func TestANodeAgrees(t *testing.T) {
	ran := agree(t, func(url string) (*compile.Suite, *irv1.Content) {
		return example(t, "merchant_url="+url, "psp_url="+url)
	})
	for _, name := range []string{"prompts", "resources"} {
		ran += agree(t, func(url string) (*compile.Suite, *irv1.Content) { return archived(t, name, url) })
	}
	if ran < 70 {
		t.Errorf("only %d cases ran", ran)
	}
}

// agree runs the cases of a module whose upstreams are at a URL, and returns how many.
func agree(t *testing.T, module func(url string) (*compile.Suite, *irv1.Content)) (ran int) {
	n := &network{}
	upstream := httptest.NewUnstartedServer(n)
	upstream.Config.SetKeepAlivesEnabled(false) // a kept connection that breaks would be tried again
	upstream.Start()
	t.Cleanup(upstream.Close)
	suite, content := module(upstream.URL)
	n.serve(t, content)
	for _, c := range suite.Cases {
		if len(c.Exchanges) > 0 && c.Exchanges[0].Response.Failure == cases.Timeout {
			continue // it would take as long as it says
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			n.play(c)
			members, refusal := n.ask(t, c)
			online := fmt.Sprintf("%+v", append(checkRequests(c.Exchanges, n.received()), checkAnswer(c, members, refusal)...))
			offline := n.stage.run(t.Context(), c).Problems
			offline = slices.DeleteFunc(offline, func(p Problem) bool { return strings.HasPrefix(p.Where, "checks.") }) // clients do not see them
			if fmt.Sprintf("%+v", offline) != online {
				t.Errorf("with a network: %s\noffline: %+v", online, offline)
			}
		})
	}
	return ran
}

// archived compiles a module of testdata with its tests; its upstream is at url.
func archived(t *testing.T, name, url string) (*compile.Suite, *irv1.Content) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	sources := &sourcev1.Sources{Files: []*sourcev1.File{
		{Path: "cue.mod/module.cue", Data: []byte("module: \"example.com/shop@v0\"\nlanguage: version: \"v0.16.0\"\n")},
	}}
	for _, f := range archive.Files {
		data := strings.ReplaceAll(string(f.Data), "https://api.library.example", url)
		sources.Files = append(sources.Files, &sourcev1.File{Path: f.Name, Data: []byte(data)})
	}
	return compiled(t, sources)
}

// unreached are the checks of the example module that no call fails: the schema of
// its payload demands the same before.
var unreached = []string{"agent_capabilities"}

// TestExample holds that the tests of the example module pass and exercise all of it.
func TestExample(t *testing.T) {
	suite, content := example(t)
	all, err := Run(t.Context(), content, suite.Cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		for _, p := range v.Problems {
			t.Errorf("%s: %q: %s\n\twant %s\n\tgot  %s", diag.Place(v.Case.Position), v.Case.Name, p.Where, p.Want, p.Got)
		}
	}
	for _, p := range Cover(content, suite.Compiled.GetSourceMap(), all) {
		if !p.Covered && !slices.Contains(unreached, p.Check) {
			t.Errorf("%s: no test exercises %s %s%s %s", diag.Place(p.Position), p.Binding, p.Tool, p.Rule, p.Check)
		}
	}
}

// example compiles the example module with its tests.
func example(t testing.TB, tags ...string) (*compile.Suite, *irv1.Content) {
	t.Helper()
	sources := &sourcev1.Sources{Tags: tags}
	err := fs.WalkDir(acp.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(acp.FS, name)
		sources.Files = append(sources.Files, &sourcev1.File{Path: name, Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return compiled(t, sources)
}

// compiled compiles a module with its tests, without anything to say of it.
func compiled(t testing.TB, sources *sourcev1.Sources) (*compile.Suite, *irv1.Content) {
	t.Helper()
	suite, err := compile.Tested(t.Context(), sources)
	if err != nil || len(suite.Diagnostics) > 0 {
		t.Fatal(err, suite.Diagnostics)
	}
	content, err := irv1.Open(suite.Compiled.GetBundle())
	if err != nil {
		t.Fatal(err)
	}
	return suite, content
}

// serve starts the node.
func (n *network) serve(t *testing.T, content *irv1.Content) {
	t.Helper()
	tab, err := table.Build(content, &discoveryv1.Generation{Number: 1}, nil, table.Deps{
		Secrets: secret.New("", playedSecret),
		Now:     n.now,
		UUID:    n.uuid,
	})
	if err != nil {
		t.Fatal(err)
	}
	node := serve.New(serve.Config{})
	node.Swap(tab)
	server := httptest.NewServer(node)
	t.Cleanup(server.Close)
	n.node = server.URL
	if n.stage, err = newStage(content); err != nil {
		t.Fatal(err)
	}
}

func (n *network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, ok := n.answer(r)
	if !ok || answer.Failure == cases.Unreachable {
		panic(http.ErrAbortHandler)
	}
	for name, value := range answer.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.Status)
	if answer.Body != nil {
		_, _ = w.Write(answer.Body.Data)
	}
}

// answer keeps a request and returns what the case has for it, if it has.
func (n *network) answer(r *http.Request) (cases.Response, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	got, err := receive(r)
	if n.got = append(n.got, got); err != nil || len(n.got) > len(n.playing.Exchanges) {
		return cases.Response{}, false
	}
	return n.playing.Exchanges[len(n.got)-1].Response, true
}

// ableMeta is the "_meta" of a client that can be asked anything.
const ableMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}}`

// params returns the method by which an MCP client asks for what a case is about, its name
// in a header, "" for none, and the parameters but "_meta".
func (n *network) params(c *cases.Case) (method, name, params string) {
	arguments := string(c.Arguments)
	if c.Arguments == nil {
		arguments = "{}"
	}
	switch typed := c.Completion; {
	case c.Tool != "":
		return "tools/call", c.Tool, fmt.Sprintf(`"name":%q,"arguments":%s`, c.Tool, arguments)
	case c.Prompt != "":
		return "prompts/get", c.Prompt, fmt.Sprintf(`"name":%q,"arguments":%s`, c.Prompt, arguments)
	case c.Resource != "":
		return "resources/read", c.Resource, fmt.Sprintf(`"uri":%q`, c.Resource)
	default:
		ref := fmt.Sprintf(`{"type":"ref/prompt","name":%q}`, typed.Prompt)
		for _, template := range n.stage.table.Endpoint(n.stage.endpoints[c.Binding]).Templates {
			if template.Name == typed.Template {
				ref = fmt.Sprintf(`{"type":"ref/resource","uri":%q}`, template.Key())
			}
		}
		return "completion/complete", "", fmt.Sprintf(`"ref":%s,"argument":{"name":%q,"value":%q},"context":{"arguments":%s}`, ref, typed.Argument, typed.Value, arguments)
	}
}

// ask asks for what a case is about as an MCP client does. It returns the members of the result but
// those that the node adds for the client's protocol, or the error.
func (n *network) ask(t *testing.T, c *cases.Case) (members []byte, refusal *call.Error) {
	t.Helper()
	method, name, params := n.params(c)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":%s}}`, method, params, ableMeta)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.node+n.stage.endpoints[c.Binding], strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", newest)
	r.Header.Set("Mcp-Method", method)
	if name != "" {
		r.Header.Set("Mcp-Name", name)
	}
	for name, value := range c.Caller {
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var reply struct {
		Result map[string]json.RawMessage
		Error  *struct {
			Code    int
			Message string
			Data    json.RawMessage
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		t.Fatalf("HTTP %d: %v", resp.StatusCode, err)
	}
	if e := reply.Error; e != nil {
		return nil, &call.Error{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	result, err := json.Marshal(withoutOwnMeta(t, reply.Result))
	if err != nil {
		t.Fatal(err)
	}
	return result[1 : len(result)-1], nil
}

// withoutOwnMeta returns a result without what a node itself puts into "_meta".
func withoutOwnMeta(t *testing.T, result map[string]json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(result["_meta"], &meta); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(meta, func(key string, _ json.RawMessage) bool {
		return strings.HasPrefix(key, "bindery.dev/") || strings.HasPrefix(key, "io.modelcontextprotocol/")
	})
	for _, member := range []string{"_meta", "resultType", "requestState", "ttlMs", "cacheScope"} {
		delete(result, member)
	}
	if len(meta) > 0 {
		data, err := json.Marshal(meta)
		if err != nil {
			t.Fatal(err)
		}
		result["_meta"] = data
	}
	return result
}
