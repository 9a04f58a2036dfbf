package compile

import (
	"path"
	"strings"
	"unicode/utf8"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// file returns the file of the module that v names, and false when there is none, which
// is reported.
func (rd *reading) file(v value) ([]byte, bool) {
	name := v.text()
	if name == "" {
		return nil, false // it has been reported
	}
	at := rd.pathOf(name, v)
	data, ok := rd.unit.module.contents[at]
	if !ok {
		rd.missingFile(v, at, rd.unit.module.contents)
	}
	return data, ok
}

// pathOf returns the path, from the module's root, of the file that is called name where
// v is written.
func (rd *reading) pathOf(name string, v value) string {
	if strings.HasPrefix(name, "/") {
		return path.Clean(name)[1:]
	}
	dir := rd.unit.dir
	if at := v.whereValue(); at != nil {
		dir = path.Dir(at.GetFile())
	}
	return path.Join(dir, name)
}

// blob adds what is written or named at v to the binding's files and returns what the
// IR has of it.
func (rd *reading) blob(data []byte, binary bool, v value) *irv1.File {
	if len(data) > irv1.MaxBlob {
		rd.largeContent(v, len(data))
	}
	if !binary && !utf8.Valid(data) {
		rd.notUTF8(v)
	}
	rd.out.files = append(rd.out.files, data)
	digest := irv1.DigestOf(data)
	return &irv1.File{Sha256: digest[:], Binary: binary}
}

// fileTypes are the media types of files by the ends of their names. The system's own
// list is another one on another machine.
var fileTypes = map[string]string{
	".css": "text/css", ".csv": "text/csv", ".gif": "image/gif", ".htm": "text/html", ".html": "text/html", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
	".js": "text/javascript", ".json": "application/json", ".md": "text/markdown", ".mp3": "audio/mpeg", ".mp4": "video/mp4", ".ogg": "audio/ogg",
	".pdf": "application/pdf", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain", ".wav": "audio/wav", ".webp": "image/webp",
	".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip",
}

// typeOfFile returns the media type of a file by its name; "" when that does not say.
func typeOfFile(name string) string { return fileTypes[strings.ToLower(path.Ext(name))] }
