package dev

import (
	"context"
	"net"

	"github.com/bindery-dev/bindery/cmd/internal/node"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// RunFile serves the bundle in the file cfg.Dir, and what replaces it, by a node alone.
// It ends and fails as [Run] does, and when the first bundle cannot be served; what
// becomes of later ones is in the log.
func RunFile(ctx context.Context, cfg Config) error {
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return node.Run(ctx, node.Config{
		MCP: cfg.MCP, Stdio: cfg.Stdio, Admin: admin, Bundle: cfg.Dir,
		Alter:   func(b *irv1.Bundle) (*irv1.Bundle, error) { return fit(cfg, b) },
		Secrets: cfg.Secrets, DrainTimeout: drain, Log: cfg.Daemons,
	})
}
