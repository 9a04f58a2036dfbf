package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestKnowsNoAPI keeps what one API needs out of generic code: it is said in CUE,
// in examples. The words are put together here so that this file is no finding.
func TestKnowsNoAPI(t *testing.T) {
	words := [][]byte{
		[]byte("check" + "out"), []byte("delegate" + "_payment"), []byte("idempotency" + "_key"), []byte("A" + "CP"),
	}
	root := filepath.Join("..", "..")
	files := 0
	for _, dir := range []string{"cue", "controlplane", "dataplane", "cmd/bindery-node"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			for _, w := range words {
				if i := bytes.Index(data, w); i >= 0 {
					t.Errorf("%s:%d: %q: an API's own words belong in its CUE module", path, 1+bytes.Count(data[:i], []byte("\n")), w)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files == 0 {
		t.Error("no file was read")
	}
}
