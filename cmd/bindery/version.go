package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/build"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

type versionView struct {
	Version string `json:"version"`
	IRLevel int    `json:"ir_level"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func thisVersion() versionView {
	return versionView{build.Version(), irv1.Level, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func (v versionView) String() string {
	return fmt.Sprintf("bindery %s (IR level %d, %s, %s)", v.Version, v.IRLevel, v.Go, v.System)
}

func (p *program) version() *cobra.Command {
	var out *output
	c := command("version [-o json]", "Print the version", cobra.NoArgs, func(*cobra.Command, []string) error {
		if *out == jsonOut {
			return p.printJSON(thisVersion())
		}
		fmt.Fprintln(p.out, thisVersion())
		return nil
	})
	c.Long = "Print the version of this binary and the IR level that it compiles to, as\n--version does."
	c.Example = "  bindery version\n  bindery version -o json | jq -r .version"
	out = outputFlag(c)
	return c
}
