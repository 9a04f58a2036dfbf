package serve

import (
	"bytes"
	"net/http"
	"time"

	"github.com/bindery-dev/bindery/dataplane/table"
)

// serveDocument answers with d, which is meant for everyone: without
// authentication, and to pages of any origin.
func serveDocument(d *table.Document, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		notAllowed(w, "GET, HEAD")
		return
	}
	h := w.Header()
	h.Set("Content-Type", d.MediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cache-Control", d.CacheControl)
	h.Set("Etag", d.ETag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.Body))
}
