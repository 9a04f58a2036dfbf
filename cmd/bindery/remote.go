package main

import (
	"cmp"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/operator"
)

const (
	defaultControlPlane = "127.0.0.1:7700"
	defaultGroup        = "default"
)

// controlPlaneFlag adds --control-plane to c. Its default is the environment's.
func controlPlaneFlag(c *cobra.Command) *string {
	addr := cmp.Or(os.Getenv("BINDERY_CONTROL_PLANE"), defaultControlPlane)
	return c.Flags().String("control-plane", addr, "the control plane's `ADDR`, host:port (environment BINDERY_CONTROL_PLANE)")
}

func groupFlag(c *cobra.Command) *string {
	return c.Flags().String("group", defaultGroup, "the `GROUP` of nodes")
}

// withControlPlane runs do with a client for the control plane at addr.
func withControlPlane(addr string, do func(*operator.Client) error) error {
	client, err := operator.Dial(addr)
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client)
}

// author is who an operator is to the control plane: the name of the account.
func author() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return cmp.Or(os.Getenv("USER"), "unknown")
}
