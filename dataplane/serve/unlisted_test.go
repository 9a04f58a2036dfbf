package serve

import (
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/dataplane/serve/librarytest"
)

// TestUnlisted has a client meet a tool that is not for clients: it is in no list, and
// a call of it is answered as one of a tool that there is not, both ways.
func TestUnlisted(t *testing.T) {
	proof.Ran(t)
	hidden, without := librarytest.Binding("library.example"), librarytest.Binding("library.example")
	hidden.Tools[1].Hidden = true
	without.Tools = without.Tools[:1]
	pair, other := twinsOf(t, librarytest.Upstream(), hidden), twinsOf(t, librarytest.Upstream(), without)
	for _, version := range eras {
		call := callOf(version, `"name":"get_book","arguments":{"id":"1"}`)
		list := askOf(version, "tools/list", "", "")
		for _, in := range []inbound{call, list} {
			pair.hold(t, in)
			got, want := string(readAll(t, in.to(pair.fast))), string(readAll(t, in.to(other.fast)))
			digest := pair.fast.Table().Digest().String()
			if got = strings.Replace(got, digest, other.fast.Table().Digest().String(), 1); got != want {
				t.Errorf("%s: a client gets\n%s\nwant\n%s", version, got, want)
			}
		}
	}
	if a, b := pair.fast.Table().Endpoint("/library").Surface, other.fast.Table().Endpoint("/library").Surface; a != b {
		t.Error("a hidden tool is part of what clients see")
	}
}
