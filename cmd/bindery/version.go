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

func (p *program) version() *cobra.Command {
	var out *output
	c := command("version [-o json]", "Print the version", cobra.NoArgs, func(*cobra.Command, []string) error {
		v := versionView{build.Version(), irv1.Level, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
		if *out == jsonOut {
			return p.printJSON(v)
		}
		fmt.Fprintf(p.out, "bindery %s (IR level %d, %s, %s)\n", v.Version, v.IRLevel, v.Go, v.System)
		return nil
	})
	c.Long = "Print the version of this binary and the IR level that it compiles to."
	c.Example = "  bindery version\n  bindery version -o json | jq -r .version"
	out = outputFlag(c)
	return c
}
