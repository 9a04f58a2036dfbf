package admin

import (
	"fmt"

	adminv1 "github.com/bindery-dev/bindery/proto/bindery/admin/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// maxWords is how many bytes of labels and causes a list of nodes has. With what else
// there is of thousands of nodes it is well below the 64 MiB that bindery takes.
const maxWords = 32 << 20

// fit takes from nodes, which it changes, what they have too many words for: causes but
// the first of each node, then labels, then all causes. A list of nodes never fails for
// its size.
func fit(nodes []*adminv1.Node) []*adminv1.Node {
	for _, shorten := range []func(*adminv1.Node){firstCause, withoutLabels, withoutCauses} {
		if words(nodes) <= maxWords {
			break
		}
		for _, n := range nodes {
			shorten(n)
		}
	}
	return nodes
}

func words(nodes []*adminv1.Node) int {
	size := 0
	for _, n := range nodes {
		for name, value := range n.GetLabels() {
			size += len(name) + len(value)
		}
		for _, d := range n.GetCauses() {
			size += len(d.GetCode()) + len(d.GetPath()) + len(d.GetMessage()) + len(d.GetHint()) + len(d.GetPosition().GetFile())
		}
	}
	return size
}

func firstCause(n *adminv1.Node) {
	if more := len(n.GetCauses()) - 1; more > 0 {
		n.Causes = append(n.Causes[:1:1], leftOut("%d more causes are left out", more))
	}
}

func withoutLabels(n *adminv1.Node) { n.Labels = nil }

func withoutCauses(n *adminv1.Node) {
	if len(n.GetCauses()) > 0 {
		n.Causes = []*sourcev1.Diagnostic{leftOut("causes are left out")}
	}
}

func leftOut(format string, args ...any) *sourcev1.Diagnostic {
	return &sourcev1.Diagnostic{
		Severity: sourcev1.Severity_SEVERITY_ERROR, Code: "left-out",
		Message: fmt.Sprintf(format, args...) + ": the nodes give too many for one answer",
		Hint:    "the logs of the nodes have them",
	}
}
