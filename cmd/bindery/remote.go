package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/cmd/internal/operator"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

const (
	defaultControlPlane = "127.0.0.1:7700"
	defaultGroup        = "default"
	defaultTimeout      = 60 * time.Second
)

// controlPlaneFlag adds --control-plane to c. Its default is the environment's.
func controlPlaneFlag(c *cobra.Command) *string {
	addr := cmp.Or(os.Getenv("BINDERY_CONTROL_PLANE"), defaultControlPlane)
	return c.Flags().String("control-plane", addr, "the control plane's `ADDR`, host:port (environment BINDERY_CONTROL_PLANE)")
}

// groupFlag adds --group to c, which sets group: the default group unless told.
func groupFlag(c *cobra.Command, group *string) {
	*group = defaultGroup
	c.Flags().Var((*groupName)(group), "group", "the `GROUP` of nodes")
}

// A groupName is the value of --group.
type groupName string

func (g *groupName) String() string { return string(*g) }
func (g *groupName) Type() string   { return "string" }

func (g *groupName) Set(s string) error {
	*g = groupName(s)
	return discoveryv1.CheckName(s)
}

// timeoutFlag adds --timeout to c.
func timeoutFlag(c *cobra.Command) *time.Duration {
	d := defaultTimeout
	c.Flags().Var((*wait)(&d), "timeout", "how long to wait for the nodes, more than 0s")
	return &d
}

// A wait is the value of --timeout.
type wait time.Duration

func (w *wait) String() string { return time.Duration(*w).String() }
func (w *wait) Type() string   { return "duration" }

func (w *wait) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err == nil && d <= 0 {
		return errors.New("it has to be more than 0s: --no-wait does not wait")
	}
	*w = wait(d)
	return err
}

// withControlPlane runs do with a client for the control plane at addr.
func withControlPlane(c *cobra.Command, addr string, do func(*operator.Client) error) error {
	if err := daemon.CheckAddress(addr); err != nil {
		return usagef(c, "--control-plane %v", err)
	}
	client, err := operator.Dial(addr)
	if err != nil {
		return err
	}
	defer client.Close()
	err = do(client)
	if brokeOff(err) {
		return fmt.Errorf("%w: it went away meanwhile: start it again, or look at its log", err)
	}
	return err
}

// brokeOff reports whether the connection with a control plane that had answered is no
// more.
func brokeOff(err error) bool {
	plane := (*operator.Unreachable)(nil)
	return errors.As(err, &plane) && plane.Lost
}

// author is who an operator is to the control plane: the name of the account.
func author() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return cmp.Or(os.Getenv("USER"), "unknown")
}
