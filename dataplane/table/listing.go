package table

import (
	"bytes"
	"encoding/json"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// A listing is a tool's entry in the answer to tools/list. What later revisions of MCP
// added stands behind what earlier ones had, so that one text has the entries for all
// of them.
type listing struct {
	json  []byte     // for the newest, without newlines
	added []addition // the oldest first
}

// An addition is what a revision of MCP added to the entry: from at on.
type addition struct {
	version string
	at      int
}

// Key returns what lists of tools are sorted by: the name.
func (t *Tool) Key() string { return t.Name }

// Size returns how long the tool's entry is at most, in bytes.
func (t *Tool) Size() int { return len(t.JSON) }

func (t *Tool) newest() []byte { return t.JSON }

// AppendListed appends the tool's entry for a client that speaks a revision of MCP.
func (t *Tool) AppendListed(dst []byte, version string) []byte {
	return appendListed(dst, t.JSON, t.added, version)
}

// appendListed appends the text of a listing for a client that speaks a revision of MCP.
func appendListed(dst, text []byte, added []addition, version string) []byte {
	for _, a := range added {
		if version < a.version {
			return append(append(dst, text[:a.at]...), '}')
		}
	}
	return append(dst, text...)
}

// newListing returns the entry of t.
func newListing(t *irv1.Tool, in, out *shape) listing {
	var l listing
	l.add("", struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}{t.GetName(), t.GetDescription(), json.RawMessage(in.document)})
	l.add("2025-03-26", struct {
		Annotations *annotations `json:"annotations,omitempty"`
	}{hints(t.GetAnnotations())})
	later := struct {
		Title        string          `json:"title,omitempty"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
		// Security is of the Apps SDK. Libraries drop what they do not know, so that it is
		// in Meta, too.
		Security []securityScheme `json:"securitySchemes,omitempty"`
		Meta     json.RawMessage  `json:"_meta,omitempty"`
	}{Title: t.GetTitle(), Security: securitySchemes(t.GetSecuritySchemes())}
	later.Meta = entryMeta(t.GetEntryMeta(), later.Security)
	if t.GetOutput().GetShown() {
		later.OutputSchema = json.RawMessage(out.document)
	}
	l.add("2025-06-18", later)
	l.add("2025-11-25", struct {
		Icons []icon `json:"icons,omitempty"`
	}{icons(t.GetIcons())})
	l.json = append(l.json, '}')
	return l
}

// add appends the members of an object that version added; "" is the first. The brace
// that closes the entry is not there yet.
func (l *listing) add(version string, object any) {
	// Strings and documents that were parsed: they marshal without fail.
	members := bytes.TrimSuffix(encode(object), []byte("}"))
	if version == "" {
		l.json = members
		return
	}
	l.added = append(l.added, addition{version, len(l.json)})
	if len(members) > len("{") {
		members[0] = ','
		l.json = append(l.json, members...)
	}
}

// annotations are the tool hints of MCP, in its words.
type annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

func hints(a *irv1.Annotations) *annotations {
	if a == nil {
		return nil
	}
	return &annotations{a.GetReadOnly(), a.GetDestructive(), a.GetIdempotent(), a.GetOpenWorld()}
}
