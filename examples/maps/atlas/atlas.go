// Package atlas is a sample service of static maps: places come in, pictures of maps
// that it makes up, and words and a sound about them, go out.
package atlas

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Width and Height are those of every map, in pixels.
const (
	Width  = 160
	Height = 120
)

// A Point is a place on earth, in degrees.
type Point struct{ Lat, Lng float64 }

// New returns the service, for one user with a password.
func New(user, password string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/map", drawn)
	mux.HandleFunc("GET /v1/attribution", attribution)
	mux.HandleFunc("GET /v1/way", way)
	mux.HandleFunc("GET /v1/places/{kind}/near", near)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, p, ok := r.BasicAuth()
		if !ok || u != user || subtle.ConstantTimeCompare([]byte(p), []byte(password)) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="atlas"`)
			fail(w, http.StatusUnauthorized, "The password is not known.")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message}) // the caller is gone if this fails
}

// point reads name[lat] and name[lng].
func point(q url.Values, name string) (Point, error) {
	lat, err := strconv.ParseFloat(q.Get(name+"[lat]"), 64)
	if err != nil || math.Abs(lat) > 90 {
		return Point{}, errors.New(name + " has no latitude.")
	}
	lng, err := strconv.ParseFloat(q.Get(name+"[lng]"), 64)
	if err != nil || math.Abs(lng) > 180 {
		return Point{}, errors.New(name + " has no longitude.")
	}
	return Point{lat, lng}, nil
}

// marker reads "LAT,LNG".
func marker(s string) (Point, error) {
	lat, lng, _ := strings.Cut(s, ",")
	return point(url.Values{"marker[lat]": {lat}, "marker[lng]": {lng}}, "marker")
}

// drawn answers with a map: what is north of the equator is darker, and each marker
// is a red square.
func drawn(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	center, err := point(q, "center")
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	zoom, err := strconv.Atoi(q.Get("zoom"))
	if err != nil {
		zoom = 8
	}
	degrees := 360 / math.Exp2(float64(zoom)) // of the whole width
	m := image.NewRGBA(image.Rect(0, 0, Width, Height))
	shade := uint8(200 - center.Lat)
	draw.Draw(m, m.Bounds(), image.NewUniform(color.RGBA{shade / 2, shade, shade / 2, 255}), image.Point{}, draw.Src)
	for _, text := range q["markers"] {
		p, err := marker(text)
		if err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		x := Width/2 + int((p.Lng-center.Lng)/degrees*Width)
		y := Height/2 - int((p.Lat-center.Lat)/degrees*Width)
		draw.Draw(m, image.Rect(x-3, y-3, x+4, y+4), image.NewUniform(color.RGBA{220, 0, 0, 255}), image.Point{}, draw.Src)
	}
	w.Header().Set("Content-Type", "image/png")
	_ = png.Encode(w, m)
}

func attribution(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("© the atlas\nDrawn freely.\n"))
}

// way answers with a sound (WAV) that is as long as it is far: a second for ten
// degrees.
func way(w http.ResponseWriter, r *http.Request) {
	from, err := point(r.URL.Query(), "from")
	to, also := point(r.URL.Query(), "to")
	if err = errors.Join(err, also); err != nil {
		fail(w, http.StatusBadRequest, "A way needs two ends.")
		return
	}
	w.Header().Set("Content-Type", "audio/wav")
	_, _ = w.Write(sound(math.Hypot(to.Lat-from.Lat, to.Lng-from.Lng) / 10))
}

// sound returns a tone of 440 Hz: 8-bit samples, 8,000 a second.
func sound(seconds float64) []byte {
	const rate = 8000
	samples := make([]byte, int(math.Round(seconds*rate)))
	for i := range samples {
		samples[i] = byte(128 + 60*math.Sin(2*math.Pi*440*float64(i)/rate))
	}
	var b bytes.Buffer
	b.WriteString("RIFF")
	_ = binary.Write(&b, binary.LittleEndian, uint32(36+len(samples))) // to memory: it cannot fail
	b.WriteString("WAVEfmt ")
	_ = binary.Write(&b, binary.LittleEndian, []uint16{16, 0, 1, 1, rate, 0, rate, 0, 1, 8})
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, uint32(len(samples)))
	b.Write(samples)
	return b.Bytes()
}

// names are what the nearest place is called, by language.
var names = map[string]string{"en": "The corner", "de": "Die Ecke", "fr": "Le coin"}

// near answers with the nearest place of a kind around a center, as GeoJSON does; its
// name is in the language that is asked for, and its pin a path to draw.
func near(w http.ResponseWriter, r *http.Request) {
	center, err := point(r.URL.Query(), "center")
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/geo+json")
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "Feature", "properties": map[string]string{
		"kind": r.PathValue("kind"), "name": cmp.Or(names[r.Header.Get("Accept-Language")], names["en"]), "pin": "M0 0L4 8L8 0Z"},
		"geometry": map[string]any{"type": "Point", "coordinates": []float64{center.Lng, center.Lat}}})
}
