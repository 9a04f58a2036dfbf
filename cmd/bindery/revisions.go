package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/operator"
	"github.com/bindery-dev/bindery/cmd/internal/term"
	"github.com/bindery-dev/bindery/cue/source"
	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
)

const defaultRevisions = 20

func (p *program) revisions() *cobra.Command {
	var addr *string
	var group string
	var out *output
	var limit int
	c := command("revisions [--group G] [--limit N] [-o json]", "List a group's revisions, or show one", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		if limit < 1 {
			return usagef(c, "--limit %d is less than 1", limit)
		}
		return withControlPlane(c, *addr, func(client *operator.Client) error {
			all, err := client.Revisions(c.Context(), group, limit)
			switch {
			case err != nil:
				return err
			case *out == jsonOut:
				v := revisionsView{[]*revisionView{}}
				for _, r := range all {
					v.Revisions = append(v.Revisions, viewRevision(r))
				}
				return p.printJSON(v)
			case len(all) == 0:
				fmt.Fprintf(p.err, "group %s has no revision: make one with bindery apply --group %s\n", group, group)
				return nil
			}
			p.revisionTable(all)
			return nil
		})
	})
	c.Long = "List the revisions of a group, newest first. A revision never changes."
	c.Example = `  bindery revisions
  bindery revisions show 41 --sources ./revision-41`
	addr, out = controlPlaneFlag(c), outputFlag(c)
	groupFlag(c, &group)
	c.Flags().IntVar(&limit, "limit", defaultRevisions, "how many at most")
	c.AddCommand(p.showRevision())
	return c
}

func (p *program) revisionTable(all []*adminv1.Revision) {
	var rows [][]term.Cell
	for _, r := range all {
		rows = append(rows, term.Cells(number(r.GetGeneration()), digestOf(r)[:12],
			term.Age(time.Since(r.GetCreated().AsTime())), origin(r), strings.Join(r.GetTags(), ","), r.GetMessage()))
	}
	p.out.Table([]string{"REVISION", "DIGEST", "AGE", "FROM", "TAGS", "MESSAGE"}, rows)
}

// origin says who or what made a revision.
func origin(r *adminv1.Revision) string {
	switch {
	case r.GetRollbackOf() != 0:
		return fmt.Sprintf("%s, rollback to %d", r.GetAuthor(), r.GetRollbackOf())
	case r.GetSource() != "":
		return r.GetSource()
	}
	return r.GetAuthor()
}

func digestOf(r *adminv1.Revision) string {
	return fmt.Sprintf("%-12x", r.GetGeneration().GetDigest())
}

func (p *program) showRevision() *cobra.Command {
	var addr *string
	var group string
	var out *output
	var dir string
	c := command("show REVISION [--group G] [--sources DIR] [-o json]", "Show a revision and get its sources back", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		n, err := revisionOf(c, args)
		if err != nil {
			return err
		}
		if err := checkEmpty(dir); err != nil {
			return err
		}
		return withControlPlane(c, *addr, func(client *operator.Client) error {
			r, files, err := client.Revision(c.Context(), group, n, dir != "")
			if err != nil {
				return err
			}
			if dir != "" {
				if err := source.Write(dir, files); err != nil {
					return err
				}
			}
			if *out == jsonOut {
				return p.printJSON(viewRevision(r))
			}
			p.showOne(r)
			if dir != "" {
				fmt.Fprintf(p.out, "wrote %s to %s\n", term.Count(len(files.GetFiles()), "file"), dir)
			}
			return nil
		})
	})
	c.Long = "Show one revision of a group. With --sources, write the files it was compiled\nfrom below DIR, which has to be new or empty."
	c.Example = `  bindery revisions show 41
  bindery revisions show 41 --sources ./revision-41 && bindery vet ./revision-41`
	addr, out = controlPlaneFlag(c), outputFlag(c)
	groupFlag(c, &group)
	c.Flags().StringVar(&dir, "sources", "", "write the sources below `DIR`, which is made if it is not there")
	return c
}

// checkEmpty refuses a directory that has something: what it had would be compiled with
// the sources. "" is none.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case dir == "" || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: name a new directory for the sources", dir)
	}
	return nil
}

func (p *program) showOne(r *adminv1.Revision) {
	rows := [][]term.Cell{
		term.Cells("revision", number(r.GetGeneration())),
		term.Cells("group", r.GetGroup()),
		term.Cells("digest", digestOf(r)),
		term.Cells("module", r.GetModule()),
		term.Cells("tags", strings.Join(r.GetTags(), ", ")),
		term.Cells("from", origin(r)),
		term.Cells("created", r.GetCreated().AsTime().Local().Format(time.RFC3339)),
		term.Cells("message", r.GetMessage()),
	}
	for _, b := range r.GetBindings() {
		rows = append(rows, term.Cells("binding", fmt.Sprintf("%s at %s: %s", b.GetName(), b.GetEndpoint(), strings.Join(b.GetTools(), ", "))))
	}
	p.out.List(rows)
}

// revisionOf returns the number in args, 0 when there is none.
func revisionOf(c *cobra.Command, args []string) (uint64, error) {
	if len(args) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil || n == 0 {
		return 0, usagef(c, "%q is no revision number", args[0])
	}
	return n, nil
}
