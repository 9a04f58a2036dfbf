package merchant_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bindery-dev/bindery/examples/merchant"
	"github.com/bindery-dev/bindery/examples/psp"
)

// TestErrand has the buyer authenticate a payment at the page that the session names.
func TestErrand(t *testing.T) {
	const base = "https://shop.example.com"
	s := newSeller(t, func(c *merchant.Config) { c.PagesURL = base })
	charges := 0
	s.charge = func(psp.Charge) error { charges++; return nil }
	visit := func(method, url string) int {
		w := httptest.NewRecorder()
		s.server.ServeHTTP(w, httptest.NewRequest(method, strings.TrimPrefix(url, base), nil))
		return w.Code
	}
	r := s.ready("item_watch", 1, anyAgent)
	path := "/" + r.body.ID
	left := s.post(path+"/complete", "{"+card+"}")
	s.want("without a result", left, 200, "authentication_required", "requires_3ds")
	page := left.body.ContinueURL
	if !strings.HasPrefix(page, base+"/errands/") {
		t.Fatalf("the page is %q: %s", page, left.text)
	}
	s.want("update", s.post(path, `{"order_notes":"x"}`), 200, "ready_for_payment", "info")
	if code := visit(http.MethodPost, page); code != http.StatusNotFound || charges != 0 {
		t.Errorf("the page of an attempt that is over has status %d, after %d charges", code, charges)
	}
	page = s.post(path+"/complete", "{"+card+"}").body.ContinueURL
	if code := visit(http.MethodGet, page); code != http.StatusOK || charges != 0 {
		t.Errorf("looking at the page has status %d, after %d charges", code, charges)
	}
	for i, want := range []int{http.StatusOK, http.StatusNotFound} {
		if code := visit(http.MethodPost, page); code != want || charges != 1 {
			t.Errorf("visit %d has status %d, after %d charges", i, code, charges)
		}
	}
	s.want("get", s.get(path[1:]), 200, "completed", "")
}
