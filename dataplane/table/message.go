package table

import (
	"encoding/base64"

	"github.com/bindery-dev/bindery/dataplane/content"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A Message is one of a prompt, as JSON with places for texts.
type Message struct {
	forms []messageForm // the oldest first, never none
}

// A messageForm is a message for clients that speak a revision or a later one.
type messageForm struct {
	version string
	pieces  []Piece
}

// A Piece is JSON as it is, or a text with variables that stands there as a string.
type Piece struct {
	JSON []byte
	Text *irv1.Text // nil where JSON is all
}

// Pieces returns the message for a client that speaks a revision of MCP, piece by piece.
func (m *Message) Pieces(version string) []Piece {
	pieces := m.forms[0].pieces
	for _, f := range m.forms[1:] {
		if f.version <= version {
			pieces = f.pieces
		}
	}
	return pieces
}

// newMessage returns the message m; files are those of the bundle.
func newMessage(m *irv1.PromptMessage, files map[irv1.Digest][]byte) *Message {
	message := &Message{}
	for _, version := range additions {
		changes := version == "" || version == "2025-03-26" && m.GetAudio() != nil || version == "2025-06-18" && m.GetAnnotations().GetLastModified() != ""
		if changes {
			message.forms = append(message.forms, messageForm{version, piecesOf(m, files, version)})
		}
	}
	return message
}

// piecesOf returns m as a revision of MCP has it.
func piecesOf(m *irv1.PromptMessage, files map[irv1.Digest][]byte, version string) []Piece {
	b := pieces{}
	b.add(`{"role":"` + roleNames[m.GetRole()] + `","content":{`)
	switch k := m.GetContent().(type) {
	case *irv1.PromptMessage_Text:
		b.add(`"type":"text","text":`)
		b.text(k.Text)
	case *irv1.PromptMessage_Image:
		b.medium("image", k.Image, files)
	case *irv1.PromptMessage_Audio:
		if version < "2025-03-26" {
			b.add(`"type":"text","text":` + string(rawjson.Quote(content.NoAudio(k.Audio.GetMediaType()))))
		} else {
			b.medium("audio", k.Audio, files)
		}
	case *irv1.PromptMessage_Resource:
		b.resource(k.Resource, files)
	}
	if a := newContentAnnotations(m.GetAnnotations(), version); a != nil {
		b.add(`,"annotations":` + string(encode(a)))
	}
	b.add(`}}`)
	return b
}

// pieces are those of a message in the making: JSON and texts in turn.
type pieces []Piece

func (b *pieces) add(text string) {
	if n := len(*b); n > 0 && (*b)[n-1].Text == nil {
		(*b)[n-1].JSON = append((*b)[n-1].JSON, text...)
		return
	}
	*b = append(*b, Piece{JSON: []byte(text)})
}

func (b *pieces) text(t *irv1.Text) { *b = append(*b, Piece{Text: t}) }

func (b *pieces) medium(kind string, m *irv1.Medium, files map[irv1.Digest][]byte) {
	b.add(`"type":"` + kind + `","data":"` + base64.StdEncoding.EncodeToString(fileOf(m.GetFile(), files)) +
		`","mimeType":` + string(rawjson.Quote(m.GetMediaType())))
}

func (b *pieces) resource(r *irv1.PromptResource, files map[irv1.Digest][]byte) {
	b.add(`"type":"resource","resource":{"uri":`)
	b.text(r.GetUri())
	b.add(`,"mimeType":` + string(rawjson.Quote(r.GetMediaType())))
	switch f := r.GetFile(); {
	case f == nil:
		b.add(`,"text":`)
		b.text(r.GetText())
	case f.GetBinary():
		b.add(`,"blob":"` + base64.StdEncoding.EncodeToString(fileOf(f, files)) + `"`)
	default:
		b.add(`,"text":` + string(rawjson.Quote(string(fileOf(f, files)))))
	}
	b.add(`}`)
}

// fileOf returns the file that f names among those of the bundle, which has it.
func fileOf(f *irv1.File, files map[irv1.Digest][]byte) []byte {
	return files[irv1.Digest(f.GetSha256())]
}
