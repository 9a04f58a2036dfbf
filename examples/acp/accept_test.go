package acp_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/accept"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/schema"
)

// TestQuickLook holds what a node says quickly of payloads to what the library says,
// over instances and mutants of every definition; and that it knows nearly all that
// is right: otherwise it would be a detour.
func TestQuickLook(t *testing.T) {
	for _, d := range documents {
		data, err := os.ReadFile(d.file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := rawjson.Parse(data, 512)
		if err != nil {
			t.Fatal(err)
		}
		defs := parse(t, d.file).(map[string]any)["$defs"].(map[string]any)
		for _, root := range d.roots {
			t.Run(root, func(t *testing.T) {
				quick, full := accept.Compile(doc, "/$defs/"+root, schema.Format), compile(t, d.file, root, true)
				g := &generator{defs: defs, rand: rand.New(rand.NewPCG(7, 11))}
				valid, known := 0, 0
				for range 500 {
					instance := g.instance(defs[root].(map[string]any), 0)
					for _, mutant := range []bool{false, true} {
						if mutant {
							mutate(&instance, g.rand)
						}
						text, err := json.Marshal(instance)
						if err != nil {
							t.Fatal(err)
						}
						v, err := rawjson.Parse(text, 512)
						if err != nil {
							t.Fatal(err)
						}
						verdict, err := quick.Verdict(v), full.Validate(value(t, string(text)))
						if verdict == accept.Yes && err != nil || verdict == accept.No && err == nil {
							t.Fatalf("verdict %d of %s; the library says %v", verdict, text, err)
						}
						if err == nil {
							valid++
							if verdict == accept.Yes {
								known++
							}
						}
					}
				}
				if valid == 0 || known*10 < valid*9 {
					t.Errorf("of %d valid values %d are known to be", valid, known)
				}
			})
		}
	}
}
