package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/term"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

func (p *program) apply() *cobra.Command {
	var addr *string
	var tags *[]string
	var out *output
	var timeout *time.Duration
	start := &adminv1.ApplyStart{}
	c := command("apply [DIR] [--group G] [-t TAG]... [-m MESSAGE] [flags]", "Send a module to a group and wait until its nodes run it", oneDir, func(c *cobra.Command, args []string) error {
		s, err := readModule(args, *tags)
		if err != nil {
			return err
		}
		start.Tags, start.Author, start.Timeout = *tags, author(), durationpb.New(*timeout)
		return withControlPlane(c, *addr, func(client *operator.Client) error {
			p.err.Progress("%s: compiling %s", *addr, term.Count(len(s.GetFiles()), "file"))
			var known *adminv1.Revision
			o, err := client.Apply(c.Context(), start, s, p.progress(*out, &known))
			if err != nil {
				return cutShort(err, start.GetGroup(), known, start.GetDryRun())
			}
			return p.outcome(o, *out)
		})
	})
	c.Long = `Send the sources in DIR to the control plane, which compiles them, stores a
revision and offers it to every node of the group. Progress is shown until each
node that was connected at the start runs it.

Exits 1 when the sources do not compile, and 3 when a node refuses the revision
(with its reason and the place in your sources), when nodes do not answer in
time or when the control plane is not reachable. Nothing changed: exits 0 and
makes no revision; which nodes do not run the one there is, is on stderr.`
	c.Example = `  bindery apply -m "raise the timeout"
  bindery apply examples/acp --group shop -t staging
  bindery apply --dry-run`
	f := c.Flags()
	addr, tags, out, timeout = controlPlaneFlag(c), tagsFlag(c), outputFlag(c), timeoutFlag(c)
	groupFlag(c, &start.Group)
	f.StringVarP(&start.Message, "message", "m", "", "why, for those who read the revisions later")
	f.BoolVar(&start.DryRun, "dry-run", false, "compile and compare, store nothing")
	f.BoolVar(&start.NoWait, "no-wait", false, "do not wait for the nodes")
	f.BoolVar(&start.ReplaceModule, "replace-module", false, "apply although the group runs another module")
	f.BoolVar(&start.ChangeTags, "change-tags", false, "apply although the group was compiled with other tags")
	f.BoolVar(&start.Force, "force", false, "apply although the control plane feeds the group from a directory")
	return c
}

func (p *program) rollback() *cobra.Command {
	var addr *string
	var out *output
	var timeout *time.Duration
	req := &adminv1.RollbackRequest{}
	c := command("rollback [REVISION] [--group G] [flags]", "Make an older revision the group's again", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		var err error
		if req.Revision, err = revisionOf(c, args); err != nil {
			return err
		}
		req.Author, req.Timeout = author(), durationpb.New(*timeout)
		return withControlPlane(c, *addr, func(client *operator.Client) error {
			var known *adminv1.Revision
			o, err := client.Rollback(c.Context(), req, p.progress(*out, &known))
			if err != nil {
				return cutShort(err, req.GetGroup(), known, false)
			}
			return p.outcome(o, *out)
		})
	})
	c.Long = `Make the bundle of an older revision a new revision of the group, without
compiling anything, and wait until the nodes run it. Without REVISION it is the
newest one before the current that has another bundle and that a node ran.`
	c.Example = `  bindery rollback
  bindery rollback 41 --group shop -m "42 breaks refunds"`
	f := c.Flags()
	addr, out, timeout = controlPlaneFlag(c), outputFlag(c), timeoutFlag(c)
	groupFlag(c, &req.Group)
	f.StringVarP(&req.Message, "message", "m", "", "why, for those who read the revisions later")
	f.BoolVar(&req.NoWait, "no-wait", false, "do not wait for the nodes")
	return c
}

// cutShort says of an apply or a rollback that was interrupted, or whose control plane
// went away, what becomes of it. known is the revision that was stored, as far as was
// heard: nil is none.
func cutShort(err error, group string, known *adminv1.Revision, dryRun bool) error {
	why := fmt.Sprint(err)
	switch {
	case errors.Is(err, context.Canceled):
		why = "interrupted"
	case !brokeOff(err):
		return err
	}
	switch {
	case dryRun:
		return remotef("%s: nothing is stored by a dry run", why)
	case known == nil:
		return remotef("%s before a revision was stored, as far as is known: see bindery revisions --group %s, and apply again if it is not there", why, group)
	}
	return remotef("%s: revision %d of group %s is stored, and nodes go on to it by themselves: see bindery nodes, or go back with bindery rollback",
		why, known.GetGeneration().GetNumber(), known.GetGroup())
}

// progress shows how an apply goes on, and sets known to the revision that it becomes.
func (p *program) progress(out output, known **adminv1.Revision) operator.Progress {
	return operator.Progress{
		Compiled: func(c *adminv1.Compiled) {
			if out == text {
				p.compiled(c)
			}
		},
		Rollout: func(r *adminv1.Rollout) {
			*known = r.GetRevision()
			p.err.Progress("revision %d: %s", r.GetRevision().GetGeneration().GetNumber(), countStates(r.GetNodes()))
		},
	}
}

func (p *program) compiled(c *adminv1.Compiled) {
	tools := 0
	for _, b := range c.GetBindings() {
		tools += len(b.GetTools())
	}
	_ = p.report(c.GetDiagnostics()) // warnings only
	fmt.Fprintf(p.out, "compiled %s with %s in %s\n",
		term.Count(len(c.GetBindings()), "binding"), term.Count(tools, "tool"), term.Took(c.GetTook().AsDuration()))
}
