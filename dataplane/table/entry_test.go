package table

import "testing"

// TestEntry has the entries that clients of each revision get.
func TestEntry(t *testing.T) {
	type shown struct {
		Name  string `json:"name"`
		Title string `json:"title,omitempty"`
	}
	e := newEntry("a", func(version string) any {
		s := shown{Name: "<a>"}
		if version >= "2025-06-18" {
			s.Title = "A"
		}
		return s
	})
	if len(e.forms) != 2 || e.Key() != "a" || e.Size() != len(`{"name":"<a>","title":"A"}`) {
		t.Errorf("entry is %+v", e)
	}
	for version, want := range map[string]string{
		"2024-11-05": `{"name":"<a>"}`, "2025-03-26": `{"name":"<a>"}`,
		"2025-06-18": `{"name":"<a>","title":"A"}`, "2025-11-25": `{"name":"<a>","title":"A"}`, "2026-07-28": `{"name":"<a>","title":"A"}`,
	} {
		if got := string(e.AppendListed([]byte("x"), version)); got != "x"+want {
			t.Errorf("%s gets %s, want x%s", version, got, want)
		}
	}
}
