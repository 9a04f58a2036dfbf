package maps_test

import (
	"bytes"
	"image/color"
	"image/png"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/examples/internal/served"
	"github.com/bindery-dev/bindery/examples/maps/atlas"
)

const berlin = `{"lat":52.5,"lng":13.4}`

// open serves the module on an atlas whose password is "s3cr3t".
func open(t *testing.T, password string) string {
	t.Helper()
	upstream := httptest.NewServer(atlas.New("maps", "s3cr3t"))
	t.Cleanup(upstream.Close)
	return served.Module(t, ".", map[string]string{"maps-password": password}, "maps_url="+upstream.URL+"/v1") + "/mcp"
}

// TestTools calls every tool of the module, served by a node, on an atlas.
func TestTools(t *testing.T) {
	served.Eras(t, open(t, "s3cr3t"), func(t *testing.T, s *mcp.ClientSession) {
		t.Run("draw_map", func(t *testing.T) { checkMap(t, s) })
		t.Run("get_attribution", func(t *testing.T) {
			got := served.Call(t, s, "get_attribution", `{}`)
			if text := got.Content[0].(*mcp.TextContent).Text; text != "© the atlas\nDrawn freely.\n" || got.StructuredContent != nil {
				t.Errorf("attribution is %q, %v", text, got.StructuredContent)
			}
		})
		t.Run("play_way", func(t *testing.T) {
			got := served.Call(t, s, "play_way", `{"from":`+berlin+`,"to":{"lat":52.5,"lng":23.4}}`)
			sound := got.Content[0].(*mcp.AudioContent)
			if sound.MIMEType != "audio/wav" || !bytes.HasPrefix(sound.Data, []byte("RIFF")) || len(sound.Data) != 44+8000 {
				t.Errorf("sound is %s, %d bytes", sound.MIMEType, len(sound.Data))
			}
		})
		t.Run("find_near", func(t *testing.T) {
			got := served.Call(t, s, "find_near", `{"kind":"café","center":`+berlin+`}`)
			served.Hold(t, got, `{"type":"Feature","properties":{"kind":"café","name":"The corner"},"geometry":{"type":"Point","coordinates":[13.4,52.5]}}`)
			text, isText := got.Content[0].(*mcp.TextContent)
			resource, isResource := got.Content[1].(*mcp.EmbeddedResource)
			if !isText || !isResource || text.Text != "The corner" || resource.Resource.MIMEType != "application/geo+json" || got.Meta["atlas.example/pin"] != "M0 0L4 8L8 0Z" {
				t.Errorf("result is %+v with %+v", got, got.Content)
			}
		})
	})
}

// checkMap holds that the picture is the one that was drawn: two markers, one in the
// middle and one to the north-east.
func checkMap(t *testing.T, s *mcp.ClientSession) {
	got := served.Call(t, s, "draw_map", `{"center":`+berlin+`,"zoom":8,"markers":["52.5,13.4","52.7,13.6"]}`)
	picture, ok := got.Content[0].(*mcp.ImageContent)
	if !ok || picture.MIMEType != "image/png" || len(got.Content) != 1 || got.StructuredContent != nil {
		t.Fatalf("content is %+v", got.Content)
	}
	m, err := png.Decode(bytes.NewReader(picture.Data))
	if err != nil {
		t.Fatal(err)
	}
	red := func(x, y int) bool { return m.At(x, y) == color.RGBA{220, 0, 0, 255} }
	const mid, center, north, east = atlas.Width / 2, atlas.Height / 2, atlas.Height/2 - 22, atlas.Width/2 + 22
	if m.Bounds().Dx() != atlas.Width || !red(mid, center) || !red(east, north) || red(mid, north) {
		t.Errorf("the picture is another one")
	}
}

// TestErrors holds that what the atlas refuses, and what never reaches it, are results
// that say why.
func TestErrors(t *testing.T) {
	served.Eras(t, open(t, "s3cr3t"), func(t *testing.T, s *mcp.ClientSession) {
		refused(t, s, "draw_map", `{"center":`+berlin+`,"markers":["91,0"]}`, `{"message":"marker has no latitude."}`)
		for _, args := range []string{`{"center":{"lat":91,"lng":0}}`, `{"center":{"lat":1}}`, `{"center":"1,2"}`, `{"center":` + berlin + `,"zoom":19}`, `{}`} {
			got := served.Call(t, s, "draw_map", args)
			if text := got.Content[0].(*mcp.TextContent).Text; !got.IsError || !strings.HasPrefix(text, `argument "`) {
				t.Errorf("%s: %t, %s", args, got.IsError, text)
			}
		}
	})
	served.Eras(t, open(t, "wr0ng"), func(t *testing.T, s *mcp.ClientSession) {
		refused(t, s, "get_attribution", `{}`, `{"message":"The password is not known."}`)
	})
}

func refused(t *testing.T, s *mcp.ClientSession, tool, args, want string) {
	t.Helper()
	got := served.Call(t, s, tool, args)
	if served.Hold(t, got, want); !got.IsError {
		t.Errorf("%s %s is no error", tool, args)
	}
}
