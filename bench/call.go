package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A contender is one way for a call to reach the upstream.
type contender struct {
	Name    string
	process *process // whose CPU and memory count; nil: none
	target  *target
	results results
}

// results are what the slices of a contender measured.
type results struct {
	loaded, alone []sample
	used          taken // over the loaded slices
	calls         int   // in the loaded slices
}

// A config says how long to measure.
type callConfig struct {
	rounds      int
	slice       time.Duration
	concurrency int
	json        bool
	maxAllocs   float64
}

func call(ctx context.Context, args []string) error {
	var cfg callConfig
	flags := flag.NewFlagSet("call", flag.ContinueOnError)
	flags.IntVar(&cfg.rounds, "rounds", 5, "how often every contender has its `N` slices")
	flags.DurationVar(&cfg.slice, "slice", 400*time.Millisecond, "how long a slice is, `D`")
	flags.IntVar(&cfg.concurrency, "c", 64, "`N` connections under load")
	flags.BoolVar(&cfg.json, "json", false, "print JSON")
	flags.Float64Var(&cfg.maxAllocs, "max-allocs", 0, "fail when a call on the fast path allocates more than `N` objects; 0 allows any")
	return onField(ctx, flags, args, func(f *field) error {
		all, err := f.contenders(ctx)
		if err != nil {
			return err
		}
		if err := measure(ctx, all, cfg); err != nil {
			return err
		}
		rows := rate(all)
		if cfg.json {
			err = json.NewEncoder(os.Stdout).Encode(rows)
		} else {
			print(os.Stdout, rows)
		}
		return errors.Join(err, checkAllocs(rows, cfg.maxAllocs))
	})
}

// checkAllocs holds the rows of the fast path to a number of allocations, which
// depends on the program and not on the machine.
func checkAllocs(rows []row, limit float64) error {
	for _, r := range rows {
		if limit > 0 && strings.HasPrefix(r.Name, bindery) && !strings.HasSuffix(r.Name, sdkOnly) && r.Allocs > limit {
			return fmt.Errorf("%s: %.0f allocations a call, at most %.0f are allowed", r.Name, r.Allocs, limit)
		}
	}
	return nil
}

// A field is where contenders run: a directory, an upstream and a compiled module.
type field struct {
	dir       string
	upstream  *process
	bundle    string // file
	processes []*process
}

// onField parses the arguments of a subcommand and measures on a field of its own.
func onField(ctx context.Context, flags *flag.FlagSet, args []string, measure func(*field) error) error {
	return inDir(flags, args, func(dir string) error {
		f, err := newField(ctx, dir)
		if err != nil {
			return err
		}
		defer f.close()
		return measure(f)
	})
}

func newField(ctx context.Context, dir string) (_ *field, err error) {
	f := &field{dir: dir}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	progress("building")
	if err := build(ctx, f.dir, "./cmd/bindery-node", "./cmd/bindery"); err != nil {
		return nil, err
	}
	if f.upstream, err = spawn(ctx, "upstream"); err != nil {
		return nil, err
	}
	f.processes = append(f.processes, f.upstream)
	if err := copyModule(f.module()); err != nil {
		return nil, err
	}
	f.bundle = filepath.Join(f.dir, "acp.bundle")
	data, err := compileModule(ctx, f.module(), "http://"+f.upstream.addr)
	if err != nil {
		return nil, err
	}
	return f, replace(f.bundle, data)
}

func (f *field) module() string { return filepath.Join(f.dir, "acp") }

// close ends all processes.
func (f *field) close() {
	for _, p := range slices.Backward(f.processes) {
		p.stop()
	}
}

// node starts a node with the field's bundle.
func (f *field) node(ctx context.Context, args ...string) (*process, error) {
	p, err := startNode(ctx, filepath.Join(f.dir, "bindery-node"), f.bundle, f.dir, args...)
	if err == nil {
		f.processes = append(f.processes, p)
	}
	return p, err
}

// payload is the body of an update of a checkout session, as the schema wants it.
const payload = `{"buyer":{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com","phone_number":"+15550100"},"line_items":[{"id":"item_1","quantity":2},{"id":"item_2","quantity":1}],` +
	`"fulfillment_details":{"name":"Ada Lovelace","address":{"name":"Ada Lovelace","line_one":"1 Analytical Way","city":"London","state":"LDN","country":"GB","postal_code":"N1 9GU"}},"order_notes":"leave it at the door"}`

const arguments = `{"meta":{"api_version":"2026-04-17","idempotency_key":"3f1c6a52","request_id":"req-1","accept_language":"en-GB"},"id":"cs_1","payload":` + payload + `}`

// An era is how MCP clients of one time ask.
type era struct {
	name    string
	headers []string
	params  string // more members of params
}

func eras() []era {
	const modern = "2026-07-28"
	return []era{
		{"2025-11-25", []string{"Mcp-Protocol-Version: 2025-11-25"}, ""},
		{modern, []string{"Mcp-Protocol-Version: " + modern, "Mcp-Method: tools/call", "Mcp-Name: " + tool},
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`},
	}
}

const tool = "update_checkout_session"

// mcpTarget returns the target of a tools/call in an era.
func mcpTarget(p *process, e era) (*target, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + e.params + `}}`
	headers := append([]string{"Accept: application/json, text/event-stream"}, e.headers...)
	return newTarget(p.addr, "/mcp", headers, []byte(body), func(got []byte) error {
		var reply struct {
			Result struct{ StructuredContent json.RawMessage }
		}
		if err := json.Unmarshal(got, &reply); err != nil {
			return err
		}
		if !bytes.Equal(reply.Result.StructuredContent, session()) {
			return fmt.Errorf("the answer is not the session: %.300s", got)
		}
		return nil
	})
}

// restTarget returns the target of the request that the call becomes.
func restTarget(p *process) (*target, error) {
	headers := []string{"Authorization: Bearer " + token, "API-Version: 2026-04-17", "Idempotency-Key: 3f1c6a52", "Request-Id: req-1", "Accept-Language: en-GB"}
	return newTarget(p.addr, "/checkout_sessions/cs_1", headers, []byte(payload), func(got []byte) error {
		if !bytes.Equal(got, session()) {
			return fmt.Errorf("the answer is not the session: %.300s", got)
		}
		return nil
	})
}

const (
	direct   = "upstream, directly"
	reverse  = "httputil.ReverseProxy"
	byHand   = "go-sdk by hand, "
	bindery  = "bindery, "
	sdkOnly  = ", SDK only"
	baseline = reverse
)

// contenders starts everything that is compared.
func (f *field) contenders(ctx context.Context) ([]*contender, error) {
	progress("starting")
	url := "http://" + f.upstream.addr
	rp, err := spawn(ctx, "proxy", url)
	if err != nil {
		return nil, err
	}
	f.processes = append(f.processes, rp)
	hand, err := spawn(ctx, "sdk", url, f.bundle, filepath.Join(f.dir, "sdk.log"))
	if err != nil {
		return nil, err
	}
	f.processes = append(f.processes, hand)
	var all []*contender
	add := func(name string, p *process, t *target, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, &contender{Name: name, process: p, target: t})
		return nil
	}
	t, err := restTarget(f.upstream)
	if err := add(direct, nil, t, err); err != nil {
		return nil, err
	}
	t, err = restTarget(rp)
	if err := add(reverse, rp, t, err); err != nil {
		return nil, err
	}
	for _, e := range eras() {
		t, err := mcpTarget(hand, e)
		if err := add(byHand+e.name, hand, t, err); err != nil {
			return nil, err
		}
	}
	for _, variant := range variants() {
		node, err := f.node(ctx, variant.args...)
		if err != nil {
			return nil, err
		}
		for _, e := range eras() {
			t, err := mcpTarget(node, e)
			if err := add(bindery+e.name+variant.suffix, node, t, err); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// A variant is a way to run a node.
type variant struct {
	suffix string
	args   []string
}

func variants() []variant {
	return []variant{{"", nil}, {sdkOnly, []string{"--fast-path=off"}}}
}

// measure gives every contender its slices, in turns, and in another order each
// round.
func measure(ctx context.Context, all []*contender, cfg callConfig) error {
	for _, c := range all { // a warm-up that does not count
		if _, err := load(ctx, c.target, cfg.concurrency, cfg.slice/4); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	for round := range cfg.rounds {
		progress(fmt.Sprintf("round %d of %d", round+1, cfg.rounds))
		order := slices.Clone(all)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, c := range order {
			if err := c.slice(ctx, cfg); err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// slice measures the contender once under load and once with one client.
func (c *contender) slice(ctx context.Context, cfg callConfig) error {
	before, err := c.used()
	if err != nil {
		return err
	}
	loaded, err := load(ctx, c.target, cfg.concurrency, cfg.slice)
	if err != nil {
		return err
	}
	after, err := c.used()
	if err != nil {
		return err
	}
	alone, err := load(ctx, c.target, 1, cfg.slice/2)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	r := &c.results
	r.loaded, r.alone = append(r.loaded, loaded), append(r.alone, alone)
	r.calls += len(loaded.latency)
	r.used.cpu += after.cpu - before.cpu
	r.used.mallocs += after.mallocs - before.mallocs
	r.used.bytes += after.bytes - before.bytes
	return nil
}

func (c *contender) used() (taken, error) {
	if c.process == nil {
		return taken{}, nil
	}
	return c.process.usage()
}
