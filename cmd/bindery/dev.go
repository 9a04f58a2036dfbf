package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/dev"
	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/dataplane/serve"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

const defaultListen = "127.0.0.1:8080"

func (p *program) dev() *cobra.Command {
	var tags *[]string
	var listen, secrets string
	var stateful bool
	var upstreams *[]string
	c := command("dev [DIR] [--listen ADDR] [--stateful] [--upstream NAME=URL]... [--secrets-dir DIR] [-t TAG]...", "Serve a module from here and reload it on every save", oneDir, func(c *cobra.Command, args []string) error {
		dir, err := moduleDir(args)
		if err != nil {
			return err
		}
		cfg := dev.Config{Dir: dir, Tags: *tags, Secrets: secrets, Stateful: stateful, Log: p.log(slog.LevelWarn), Daemons: p.log(slog.LevelError)}
		if cfg.Upstreams, err = parseUpstreams(c, *upstreams); err != nil {
			return err
		}
		if cfg.MCP, err = listenTCP(c, listen); err != nil {
			return err
		}
		cfg.Report = (&devScreen{program: p, base: "http://" + cfg.MCP.Addr().String(), secrets: secrets}).report
		return asUsage(c, dev.Run(c.Context(), cfg))
	})
	c.Long = `Compile the module in DIR and serve its tools over MCP, from a control plane and
a node in this process. Every save that compiles is served within moments; one
that does not prints its problems, and what was served before goes on.

Secrets come from the files of --secrets-dir or from the environment: the secret
library-token is BINDERY_SECRET_LIBRARY_TOKEN. --upstream sends a binding's calls
to another base URL than its sources say, which may have a path.`
	c.Example = `  bindery dev
  BINDERY_SECRET_LIBRARY_TOKEN=t0k3n bindery dev shop --upstream library=http://127.0.0.1:9001/v1
  bindery dev shop -t staging --secrets-dir ~/.shop-secrets --listen 127.0.0.1:0`
	f := c.Flags()
	tags = tagsFlag(c)
	f.StringVar(&listen, "listen", defaultListen, "serve MCP at this `ADDR`, host:port; port 0 picks a free one")
	f.BoolVar(&stateful, "stateful", false, "give clients of MCP before 2026-07-28 sessions, as bindery-node --stateful does")
	upstreams = upstreamFlag(c)
	f.StringVar(&secrets, "secrets-dir", "", "the `DIR` of secrets, a file each")
	return c
}

// upstreamFlag adds --upstream to c.
func upstreamFlag(c *cobra.Command) *[]string {
	return c.Flags().StringArray("upstream", nil, "send the calls of binding NAME to URL, `NAME=URL`; may be repeated")
}

func parseUpstreams(c *cobra.Command, flags []string) ([]dev.Upstream, error) {
	var all []dev.Upstream
	for _, f := range flags {
		u, err := dev.ParseUpstream(f)
		if err != nil {
			return nil, usagef(c, "--upstream: %v", err)
		}
		all = append(all, u)
	}
	return all, nil
}

// asUsage returns err, as wrong usage where it says that the command line does not fit
// what is to be served.
func asUsage(c *cobra.Command, err error) error {
	binding, endpoint := (*dev.UnknownBinding)(nil), (*serve.EndpointError)(nil)
	switch {
	case errors.As(err, &binding):
		return usagef(c, "--upstream: %v", binding)
	case errors.As(err, &endpoint):
		return usagef(c, "--endpoint: %v", endpoint)
	}
	return err
}

// listenTCP opens a listener on this machine.
func listenTCP(c *cobra.Command, addr string) (net.Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, usagef(c, "--listen %s is not host:port", addr)
	}
	if !tcp.IP.IsLoopback() {
		return nil, usagef(c, "--listen %s is reachable from other machines: %s is for this one, listen on 127.0.0.1", addr, c.Name())
	}
	l, err := net.ListenTCP("tcp", tcp)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another address with --listen, port 0 picks a free one", err)
	}
	return l, nil
}

func (p *program) log(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: level}))
}

// A devScreen tells what becomes of each save.
type devScreen struct {
	*program
	base    string                    // of the URLs of endpoints; "" at stdin and stdout
	only    string                    // the path of the endpoint that is served; "" for all
	secrets string                    // the directory
	told    []*adminv1.BindingSummary // what is served, as it was told last
}

func (d *devScreen) report(e dev.Event) {
	switch e.Outcome.GetResult() {
	case adminv1.Result_RESULT_SYNCED:
		d.served(e)
		return
	case adminv1.Result_RESULT_UNCHANGED:
		fmt.Fprintf(d.out, "nothing to serve anew: %s compiles to revision %s\n", strings.Join(e.Changed, ", "), number(e.Outcome.GetRevision().GetGeneration()))
		if e.Serving.GetGeneration().Same(e.Outcome.GetRevision().GetGeneration()) {
			return
		}
	case adminv1.Result_RESULT_INVALID:
		_ = d.diagnose(e.Outcome.GetDiagnostics()) // where stderr is broken nothing can be said
	case adminv1.Result_RESULT_REJECTED:
		d.refused(e.Outcome)
	default:
		fmt.Fprintf(d.err, "bindery: dev: %s\n", term.Lines(cmp.Or(e.Err, errors.New("the node did not answer in time")).Error()))
	}
	if e.Serving == nil {
		fmt.Fprintln(d.out, d.out.Paint(term.Yellow, "nothing is served yet; waiting for a change"))
		return
	}
	fmt.Fprintln(d.out, d.out.Paint(term.Yellow, "revision "+number(e.Serving.GetGeneration())+" keeps serving"))
}

func (d *devScreen) served(e dev.Event) {
	r := e.Outcome.GetRevision()
	if d.told == nil {
		d.endpoints(r)
		fmt.Fprintln(d.out, "save a file to reload, Ctrl-C to stop")
	} else {
		changes := append(toolChanges(d.told, r.GetBindings()), e.Changed...)
		if len(changes) == 0 {
			changes = []string{"what it lacked has come"}
		}
		fmt.Fprintf(d.out, "%s served after %s: %s\n", d.out.Paint(term.Green, "revision "+number(r.GetGeneration())),
			term.Took(e.Took), strings.Join(changes, ", "))
	}
	d.told = r.GetBindings()
}

// endpoints says what is served where.
func (d *devScreen) endpoints(r *adminv1.Revision) {
	fmt.Fprintf(d.out, "revision %s of %s is served:\n", number(r.GetGeneration()), r.GetModule())
	for _, b := range r.GetBindings() {
		if d.only != "" && b.GetEndpoint() != d.only {
			continue
		}
		fmt.Fprintf(d.out, "  %s  %s: %s\n", d.out.Paint(term.Bold, d.base+b.GetEndpoint()), b.GetName(), strings.Join(b.GetTools(), ", "))
	}
}

// refused says why the node does not serve a revision, and of missing secrets how
// to provide them.
func (d *devScreen) refused(o *adminv1.Outcome) {
	var exports []string
	for _, n := range o.GetNodes() {
		_ = d.diagnose(n.GetCauses()) // where stderr is broken nothing can be said
		for _, c := range n.GetCauses() {
			if variable := secretVariable(c.GetHint()); c.GetCode() == "missing-secret" && variable != "" {
				exports = append(exports, "  export "+variable+"=...\n")
			}
		}
	}
	if len(exports) == 0 || d.secrets != "" {
		return // a file that comes is seen
	}
	slices.Sort(exports)
	fmt.Fprintf(d.err, "provide it, then start again:\n%s", strings.Join(slices.Compact(exports), ""))
}

// secretVariable returns the environment variable that a node's hint names.
func secretVariable(hint string) string {
	return regexp.MustCompile(`BINDERY_SECRET_\w+`).FindString(hint)
}

// toolChanges returns "+name" for each tool that came and "-name" for each that
// went, sorted by name.
func toolChanges(from, to []*adminv1.BindingSummary) []string {
	before, after := toolNames(from), toolNames(to)
	var changes []string
	for _, name := range after {
		if !slices.Contains(before, name) {
			changes = append(changes, "+"+name)
		}
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			changes = append(changes, "-"+name)
		}
	}
	slices.SortFunc(changes, func(a, b string) int { return cmp.Compare(a[1:], b[1:]) })
	return changes
}

func toolNames(all []*adminv1.BindingSummary) []string {
	var names []string
	for _, b := range all {
		names = append(names, b.GetTools()...)
	}
	return names
}
