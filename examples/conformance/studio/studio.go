// Package studio is a sample service of a studio: texts, pictures and sounds are
// asked for, and come out; work takes its time, and a form asks until it knows enough.
package studio

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"time"
)

// works are how long pieces of work take, by name.
var works = map[string]time.Duration{"short": 10 * time.Millisecond, "long": time.Second}

// New returns the service, which publishes to shelves.
func New(shelves *Shelves) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/texts/{name}", text)
	mux.HandleFunc("GET /v1/pictures/{name}", picture)
	mux.HandleFunc("GET /v1/sounds/{name}", sound)
	mux.HandleFunc("GET /v1/papers/{name}", paper)
	mux.HandleFunc("GET /v1/collages/{name}", collage)
	mux.HandleFunc("GET /v1/things/{id}", thing)
	mux.HandleFunc("GET /v1/ruins", ruin)
	mux.HandleFunc("POST /v1/works/{name}", work)
	mux.HandleFunc("POST /v1/forms/{name}", fill(readForms()))
	mux.HandleFunc("POST /v1/shelves/{name}", shelves.put)
	return mux
}

// say answers with JSON.
func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller is gone if this fails
}

func fail(w http.ResponseWriter, status int, message string) {
	say(w, status, map[string]string{"message": message})
}

// file answers with bytes of a media type.
func file(w http.ResponseWriter, mediaType string, data []byte) {
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(data) // the caller is gone if this fails
}

var texts = map[string]string{
	"greeting": "This is a simple text response for testing.",
}

func text(w http.ResponseWriter, r *http.Request) {
	said, ok := texts[r.PathValue("name")]
	if !ok {
		fail(w, http.StatusNotFound, "There is no such text.")
		return
	}
	file(w, "text/plain; charset=utf-8", []byte(said))
}

// dot is a picture of one red pixel.
func dot() []byte {
	p := image.NewRGBA(image.Rect(0, 0, 1, 1))
	p.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		panic(err) // a picture of one pixel that cannot be encoded is not ours to handle
	}
	return b.Bytes()
}

func picture(w http.ResponseWriter, _ *http.Request) { file(w, "image/png", dot()) }

// sound answers with a hundredth of a second of silence.
func sound(w http.ResponseWriter, _ *http.Request) {
	const rate, length = 8000, 80
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, 36+length)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, 1) // one channel
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint16(b, 1) // bytes a sample
	b = binary.LittleEndian.AppendUint16(b, 8) // bits a sample
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, length)
	file(w, "audio/wav", append(b, bytes.Repeat([]byte{128}, length)...))
}

// paper answers with a paper; who asks may have an address for it.
func paper(w http.ResponseWriter, r *http.Request) {
	say(w, http.StatusOK, map[string]string{
		"address": r.URL.Query().Get("address"),
		"kind":    "text/plain",
		"text":    "This is the content of a paper.",
	})
}

// collage answers with a title, a picture and data.
func collage(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusOK, map[string]any{
		"title":   "Multiple content types test:",
		"picture": map[string]any{"kind": "image/png", "base64": dot()},
		"data":    map[string]any{"test": "data", "value": 123},
	})
}

func thing(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	say(w, http.StatusOK, map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
}

func ruin(w http.ResponseWriter, _ *http.Request) {
	fail(w, http.StatusInternalServerError, "This tool intentionally returns an error for testing")
}

// work answers when it is done.
func work(w http.ResponseWriter, r *http.Request) {
	takes, ok := works[r.PathValue("name")]
	if !ok {
		fail(w, http.StatusNotFound, "There is no such work.")
		return
	}
	done := time.NewTimer(takes)
	defer done.Stop()
	select {
	case <-r.Context().Done():
	case <-done.C:
		file(w, "text/plain; charset=utf-8", []byte("The work is done."))
	}
}
