package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cmd/internal/term"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

const (
	defaultBundle = "bindery.bundle"
	stdout        = "-" // as the file to write
)

func (p *program) compile() *cobra.Command {
	var tags *[]string
	var out *output
	var file string
	c := command("compile [DIR] [--out FILE] [-t TAG]... [-o json]", "Compile a module to a bundle file", oneDir, func(c *cobra.Command, args []string) error {
		if file == stdout && *out == jsonOut {
			return usagef(c, "--out - and -o json both print to stdout: leave out one")
		}
		compiled, err := compileModule(c.Context(), args, *tags)
		if err != nil {
			return err
		}
		if err := p.reportAs(*out, compiled.GetDiagnostics()); err != nil {
			return err
		}
		content, err := irv1.Open(compiled.GetBundle())
		if err != nil {
			return err
		}
		if *out == jsonOut {
			if err := p.printBundle(content); err != nil || file == "" {
				return err
			}
		}
		return p.writeBundle(file, compiled.GetBundle(), content, *out)
	})
	c.Long = `Compile the module in DIR to a bundle: the file that bindery-node serves with
--bundle. Equal sources and tags give equal bytes, on any machine.

With -o json the bundle is printed as JSON, and a file is written only with --out.
--out - writes the bundle itself to stdout. A link is followed, and what is no file,
such as a device or a pipe, is written to.`
	c.Example = `  bindery compile --out shop.bundle
  bindery compile -t staging -o json | jq .digest`
	tags, out = tagsFlag(c), outputFlag(c)
	c.Flags().StringVar(&file, "out", "", "the `FILE` to write, - for stdout (default \""+defaultBundle+"\")")
	return c
}

// writeBundle writes the bundle so that a node that watches file sees it whole or
// not at all, and says what it wrote: on stderr where stdout has the bundle.
func (p *program) writeBundle(file string, b *irv1.Bundle, content *irv1.Content, out output) error {
	if file == "" {
		file = defaultBundle
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(b)
	if err != nil {
		return err
	}
	said := p.out
	if file == stdout {
		said = p.err
		_, err = p.out.Write(data)
	} else {
		err = replaceFile(file, data)
	}
	if err != nil {
		return err
	}
	if out == text {
		fmt.Fprintf(said, "wrote %s: %s, %s, %d bytes, digest %s\n", file,
			term.Count(len(content.Bindings), "binding"), term.Count(countTools(content), "tool"), len(data), content.Digest.Short())
	}
	return nil
}

func countTools(c *irv1.Content) int {
	n := 0
	for _, b := range c.Bindings {
		n += len(b.GetTools())
	}
	return n
}

// A bundleView is a bundle for scripts: bindings as protobuf's JSON form has them,
// schemas as they are and files in Base64, by digest.
type bundleView struct {
	Digest   string                     `json:"digest"`
	Level    uint32                     `json:"level"`
	Features []string                   `json:"features"`
	Bindings []json.RawMessage          `json:"bindings"`
	Schemas  map[string]json.RawMessage `json:"schemas"`
	Files    map[string][]byte          `json:"files"`
}

func (p *program) printBundle(c *irv1.Content) error {
	v := bundleView{
		Digest:   c.Digest.String(),
		Level:    c.Manifest.GetLevel(),
		Features: append([]string{}, c.Manifest.GetFeatures()...),
		Bindings: []json.RawMessage{},
		Schemas:  map[string]json.RawMessage{},
		Files:    map[string][]byte{},
	}
	for _, b := range c.Bindings {
		data, err := stableJSON(b)
		if err != nil {
			return err
		}
		v.Bindings = append(v.Bindings, data)
	}
	for d, s := range c.Schemas {
		v.Schemas[d.String()] = s
	}
	for d, f := range c.Files {
		v.Files[d.String()] = f
	}
	return p.printJSON(v)
}

// stableJSON returns m in protobuf's JSON form without the white space that
// protojson varies on purpose.
func stableJSON(m proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
