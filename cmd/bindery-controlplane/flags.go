package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bindery-dev/bindery/cmd/internal/controlplane"
	"github.com/bindery-dev/bindery/cmd/internal/daemon"
	"github.com/bindery-dev/bindery/cmd/internal/worker"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
)

// flags are the command line as it was given.
type flags struct {
	daemon.Flags
	listen, http string
	data         string
	sources      []string
}

func (f *flags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.listen, "listen", "127.0.0.1:7700", "serve nodes and operators (gRPC) at `ADDR`")
	fs.StringVar(&f.http, "http", "127.0.0.1:7701", "serve /healthz, /readyz and /metrics at `ADDR`")
	fs.StringVar(&f.data, "data", defaultData(), "keep revisions in `DIR`, which is made where needed; one process at a time")
	fs.StringArrayVar(&f.sources, "source", nil, "feed a group from a directory that is watched: `GROUP[:TAG,...]=DIR`")
	f.Register(cmd, "allow connections from other machines without TLS")
}

// defaultData is where the state of a user's programs is kept; "" when that is not
// known.
func defaultData() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bindery")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "bindery")
}

// config checks what was given and returns all of it but listeners and log. An error
// is a [daemon.UsageError].
func (f *flags) config() (controlplane.Config, error) {
	if f.data == "" {
		return controlplane.Config{}, daemon.Usagef("no place for revisions: give --data DIR")
	}
	cfg := controlplane.Config{Data: f.data, Compile: worker.Compile}
	fed := map[string]bool{}
	for _, text := range f.sources {
		s, err := parseSource(text)
		if err != nil {
			return cfg, err
		}
		if fed[s.Group] {
			return cfg, daemon.Usagef("--source %s: group %q has a directory already: leave out one", text, s.Group)
		}
		fed[s.Group] = true
		cfg.Sources = append(cfg.Sources, s)
	}
	return cfg, nil
}

// parseSource reads GROUP[:TAG,...]=DIR. A tag may be NAME=VALUE, so the directory
// begins at the last =; a directory whose name has one can be reached by a link.
func parseSource(text string) (controlplane.Source, error) {
	at := strings.LastIndex(text, "=")
	if at < 0 || at == len(text)-1 {
		return controlplane.Source{}, daemon.Usagef("--source %s names no directory: give GROUP[:TAG,...]=DIR", text)
	}
	group, tags, tagged := strings.Cut(text[:at], ":")
	if err := discoveryv1.CheckName(group); err != nil {
		return controlplane.Source{}, daemon.Usagef("--source %s: group %w", text, err)
	}
	s := controlplane.Source{Group: group, Dir: text[at+1:]}
	if !tagged {
		return s, nil
	}
	for tag := range strings.SplitSeq(tags, ",") {
		if tag == "" {
			return s, daemon.Usagef("--source %s has an empty tag: give GROUP[:TAG,...]=DIR", text)
		}
		s.Tags = append(s.Tags, tag)
	}
	return s, nil
}
