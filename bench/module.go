package main

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cue/compile"
	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/source"
	"github.com/bindery-dev/bindery/examples/acp"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// copyModule writes examples/acp to dir, which does not exist yet.
func copyModule(dir string) error { return os.CopyFS(dir, acp.FS) }

// compileModule compiles the copy of examples/acp in dir for an upstream at url and
// returns the bundle.
func compileModule(ctx context.Context, dir, url string) ([]byte, error) {
	sources, err := source.Read(dir)
	if err != nil {
		return nil, err
	}
	sources.Tags = []string{"merchant_url=" + url, "psp_url=" + url}
	compiled, err := compile.Module(ctx, sources)
	if err != nil {
		return nil, err
	}
	if compiled.GetBundle() == nil {
		d := compiled.GetDiagnostics()[0]
		return nil, fmt.Errorf("examples/acp does not compile: %s: %s", diag.Place(d.GetPosition()), d.GetMessage())
	}
	return proto.Marshal(compiled.GetBundle())
}

func openBundle(path string) (*irv1.Content, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := &irv1.Bundle{}
	if err := proto.Unmarshal(data, b); err != nil {
		return nil, err
	}
	return irv1.Open(b)
}

// replace puts data in the place of the file at path, whole.
func replace(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
