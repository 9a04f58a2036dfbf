// Package demo shows Bindery to somebody who has never seen it: an open listener
// comes in, and out goes the story of a purchase over MCP and of a change under
// load, all of it run on this machine and checked step by step.
//
// Nothing in it is made up: the shop and the payment provider are the examples',
// control plane and node are those of production, and what is printed of a request
// is what the shop received.
package demo

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/bindery-dev/bindery/cmd/internal/agent"
	"github.com/bindery-dev/bindery/cmd/internal/local"
	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
	"github.com/bindery-dev/bindery/examples/acp"
)

const group = "demo"

// bound is how long the story may take; it takes seconds.
const bound = 2 * time.Minute

// Config says where the demo runs.
type Config struct {
	MCP  net.Listener // open; Run closes it
	Once bool         // end after the story instead of serving until told to stop
	Out  *term.Screen
	Log  *slog.Logger // of control plane and node
}

// Run tells the story and then serves until ctx is done. The error names the step
// that was not as it should be; being told to stop while serving is none.
func Run(ctx context.Context, cfg Config) error {
	shop, err := openShop()
	if err != nil {
		return err
	}
	defer shop.close()
	return run(ctx, cfg, shop)
}

func run(ctx context.Context, cfg Config, shop *shop) error {
	dir, err := os.MkdirTemp("", "bindery-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{cfg: cfg, teller: &teller{out: cfg.Out}, shop: shop, dir: filepath.Join(dir, "acp")}
	if err := os.CopyFS(d.dir, acp.FS); err != nil {
		return err
	}
	return local.Run(ctx, local.Config{
		Name: group, MCP: cfg.MCP, Compile: worker.Compile, Env: shop.secret, Log: cfg.Log,
	}, d.tell)
}

// A demo is what the steps of the story share.
type demo struct {
	*teller
	cfg    Config
	shop   *shop
	dir    string // of the module
	client *operator.Client

	checkout, payments *agent.Session
	order              session // as it was completed
}

// tell runs the steps one after the other, and then serves.
func (d *demo) tell(ctx context.Context, client *operator.Client) error {
	d.client = client
	d.opening()
	if err := d.steps(ctx); err != nil {
		return err
	}
	defer d.checkout.Close()
	defer d.payments.Close()
	d.connecting()
	if d.cfg.Once {
		d.line("")
		d.line("Every step was checked and was as it should be.")
		return nil
	}
	d.line("")
	d.line("Serving until Ctrl-C, which also removes %s.", filepath.Dir(d.dir))
	<-ctx.Done()
	return nil
}

func (d *demo) steps(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	steps := []struct {
		title string
		run   func(context.Context) error
	}{
		{"Apply the bindings of examples/acp", d.applyFirst},
		{"An agent buys two mugs", d.purchase},
		{"An error keeps its meaning", d.refusal},
		{"Change the mapping while agents call", d.change},
	}
	for i, s := range steps {
		d.heading("%d. %s", i+1, s.title)
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, s.title, err)
		}
	}
	return nil
}

func (d *demo) url(endpoint string) string { return "http://" + d.cfg.MCP.Addr().String() + endpoint }
