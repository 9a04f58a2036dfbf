package compile

import (
	"context"
	"errors"

	"cuelang.org/go/mod/modfile"
	registry "cuelang.org/go/mod/module"
)

// noRegistry has no module: a compiler that fetched one would give another result
// tomorrow.
type noRegistry struct{}

var errNoRegistry = errors.New("modules are not fetched: put the package into cue.mod/pkg")

func (noRegistry) ModFile(context.Context, registry.Version) (*modfile.File, error) {
	return nil, errNoRegistry
}

func (noRegistry) Fetch(context.Context, registry.Version) (registry.SourceLoc, error) {
	return registry.SourceLoc{}, errNoRegistry
}

func (noRegistry) ModuleVersions(context.Context, string) ([]string, error) {
	return nil, errNoRegistry
}
