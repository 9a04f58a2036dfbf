package admin

import (
	"strings"
	"testing"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// TestFit holds what is left of nodes that say too much for one answer.
func TestFit(t *testing.T) {
	tests := []struct {
		name                   string
		label, causes, long    int // bytes, how many, bytes of each
		wantCauses, wantLabels int
		wantLast               string
	}{
		{"few words", 100, 3, 100, 3, 1, "xxx"},
		{"many causes", 100, 32, 2_000, 2, 1, "31 more causes are left out: "},
		{"long labels", 4_000, 0, 0, 0, 1, ""},
		{"long labels and causes", 4_000, 32, 2_000, 2, 0, "31 more causes are left out: "},
		{"long causes", 0, 2, 12_000, 1, 0, "causes are left out: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var nodes []*adminv1.Node
			for range 6_000 {
				n := &adminv1.Node{Id: "a", Labels: map[string]string{"zone": strings.Repeat("x", tt.label)}}
				for range tt.causes {
					n.Causes = append(n.Causes, &sourcev1.Diagnostic{Message: strings.Repeat("x", tt.long)})
				}
				nodes = append(nodes, n)
			}
			n := fit(nodes)[5_999]
			last := ""
			if len(n.GetCauses()) > 0 {
				last = n.GetCauses()[len(n.GetCauses())-1].GetMessage()
			}
			if len(n.GetCauses()) != tt.wantCauses || len(n.GetLabels()) != tt.wantLabels || !strings.HasPrefix(last, tt.wantLast) {
				t.Errorf("%d causes, the last %.60q, and %d labels", len(n.GetCauses()), last, len(n.GetLabels()))
			}
			if got := words(nodes); got > maxWords {
				t.Errorf("%d bytes are left", got)
			}
		})
	}
}
