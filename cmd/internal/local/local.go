// Package local is a whole Bindery on this machine: an open listener, or the streams
// of one client, and a compiler come in, and MCP is served there by a control plane
// and a node, both as they are anywhere, run in this process and connected over gRPC
// on loopback.
package local

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-dev/bindery/cmd/internal/controlplane"
	"github.com/bindery-dev/bindery/cmd/internal/node"
	"github.com/bindery-dev/bindery/cmd/internal/operator"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

const (
	patience = 20 * time.Second // for the node to connect
	drain    = 2 * time.Second  // for calls in flight when told to stop
)

// Config says what runs.
type Config struct {
	Name    string       // of the node and its group
	MCP     net.Listener // open; Run closes it; nil with Stdio
	Stdio   *node.Stdio  // as in [node.Config]
	Compile func(context.Context, *sourcev1.Sources) (*sourcev1.Compiled, error)
	Secrets string                      // the directory of secrets; "" for none
	Env     func(string) (string, bool) // finds variables that are secrets; nil means os.LookupEnv
	// Stateful is as in [node.Config].
	Stateful bool
	Log      *slog.Logger // of both; nil drops it
}

// Run starts both, waits until the node has connected, and then calls do with a
// client of the control plane. All of it has ended when Run returns: after do has, or a
// part has ended or failed, which ends the context of do. The error is do's or the
// part's; being told to stop is none.
func Run(ctx context.Context, cfg Config, do func(context.Context, *operator.Client) error) error {
	data, err := os.MkdirTemp("", "bindery-"+cfg.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	grpc, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer grpc.Close()
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer admin.Close()
	addr := grpc.Addr().String()
	client, err := operator.Dial(addr)
	if err != nil {
		return err
	}
	defer client.Close()

	parts, ctx := errgroup.WithContext(ctx)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts.Go(func() error {
		return controlplane.Run(ctx, controlplane.Config{
			GRPC: grpc, Data: filepath.Join(data, "store"), Compile: cfg.Compile, Log: cfg.Log,
		})
	})
	parts.Go(func() error {
		defer stop() // its client may have gone
		return node.Run(ctx, node.Config{
			MCP: cfg.MCP, Stdio: cfg.Stdio, Admin: admin, ControlPlane: []string{addr}, Group: cfg.Name, ID: cfg.Name,
			Secrets: cfg.Secrets, Env: cfg.Env, Stateful: cfg.Stateful, DrainTimeout: drain, Log: cfg.Log,
		})
	})
	parts.Go(func() error {
		defer stop()
		if err := awaitNode(ctx, cfg.Name, client); ctx.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
		return do(ctx, client)
	})
	return parts.Wait()
}

// awaitNode returns once the node has connected.
func awaitNode(ctx context.Context, group string, client *operator.Client) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := Every(limited, 5*time.Millisecond, func() bool {
		nodes, err := client.Nodes(limited, group)
		return err == nil && len(nodes) > 0
	})
	if err != nil && ctx.Err() == nil {
		return errors.New("the node does not reach the control plane: are connections within this machine allowed?")
	}
	return err
}

// Every calls do, with a pause between calls, until it returns true or ctx is
// done, whose error it returns.
func Every(ctx context.Context, pause time.Duration, do func() bool) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for !do() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
