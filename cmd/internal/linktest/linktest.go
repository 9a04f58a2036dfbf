// Package linktest holds what a binary may link: import paths with reasons go in,
// failed tests come out. It is for tests beside a main.
package linktest

import (
	"os/exec"
	"strings"
	"testing"
)

// Check fails t for every package that the main package in the test's directory
// links, if it is one of banned or below one. The values of banned say why.
//
// A test that calls it lives beside main, not above the packages that it guards, so
// that the test cache notices when any of them changes.
func Check(t *testing.T, banned map[string]string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 100 {
		t.Fatalf("only %d packages are listed", len(deps))
	}
	main := deps[len(deps)-1]
	for _, dep := range deps {
		for prefix, reason := range banned {
			if dep == prefix || strings.HasPrefix(dep, prefix+"/") {
				t.Errorf("%s links %s: %s", main, dep, reason)
			}
		}
	}
}
