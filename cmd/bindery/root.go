package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/term"
)

// A program is what every command has of the outside.
type program struct {
	in  io.Reader
	out *term.Screen // what was asked for
	err *term.Screen // errors, diagnostics and progress
}

// execute runs the command that args name and returns the exit code. A command whose
// results nobody gets is told to stop, and has failed.
func (p *program) execute(ctx context.Context, args []string) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.out.OnBroken(func(err error) { cancel(&lostOutput{err}) })
	root := p.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if lost := (*lostOutput)(nil); errors.As(context.Cause(ctx), &lost) {
		err = lost.failure()
	}
	if err == nil {
		return exitOK
	}
	failure := asFailure(err)
	if failure.err != nil {
		fmt.Fprintf(p.err, "bindery: %s\n", term.Lines(failure.err.Error()))
	}
	return failure.code
}

const (
	groupStart  = "start"
	groupAuthor = "author"
	groupRun    = "run"
	groupClient = "client"
)

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "bindery",
		Short: "Turn REST APIs into MCP tools from CUE files",
		Long: `Bindery turns REST APIs into MCP tools from CUE files.

Authors write bindings and check them with vet; a control plane compiles what
operators apply and pushes it to nodes, which serve MCP.

Exit codes: 0 ok, 1 the input is wrong or the tool call failed, 2 wrong usage,
3 the remote side failed (not reachable, refused, too slow).`,
		Example: `  bindery demo
  bindery init shop && BINDERY_SECRET_LIBRARY_TOKEN=t0k3n bindery dev shop
  bindery vet`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usagef(c, "%v", err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(p.help(root))
	root.Version = thisVersion().String()
	root.SetVersionTemplate("{{.Version}}\n")
	p.add(root, groupStart, "Start here:", p.demo(), p.dev(), p.init())
	p.add(root, groupAuthor, "Write bindings:", p.vet(), p.test(), p.fmt(), p.compile())
	p.add(root, groupRun, "Run them:", p.apply(), p.rollback(), p.revisions(), p.nodes(), p.status())
	p.add(root, groupClient, "Call tools:", p.tools(), p.call(), p.stdio())
	root.AddCommand(p.version())
	return root
}

func (p *program) add(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}

// help is the --help of a command, for who asks for it in words.
func (p *program) help(root *cobra.Command) *cobra.Command {
	c := command("help [COMMAND]...", "Explain a command", cobra.ArbitraryArgs, func(c *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return usagef(root, "there is no command %q", strings.Join(args, " "))
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	})
	c.Long = "Explain a command, as its --help does."
	c.Example = "  bindery help apply\n  bindery help revisions show"
	return c
}

// command makes a command whose arguments are checked by args; what it returns is
// wrong input unless it says otherwise.
func command(use, short string, args cobra.PositionalArgs, run func(c *cobra.Command, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use:                   use,
		Short:                 short,
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, got []string) error {
			if err := args(c, got); err != nil {
				return usagef(c, "%v", err)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return ran(c, run(c, args)) },
	}
}
