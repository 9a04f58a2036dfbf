package serve

import (
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bindery-dev/bindery/dataplane/content"
	"github.com/bindery-dev/bindery/dataplane/message"
	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/result"
	"github.com/bindery-dev/bindery/dataplane/table"
)

// formOf returns what results have for a client that speaks version.
func formOf(version string) result.Form {
	return result.Form{Structured: version >= message.Structured, Content: content.Form{Audio: version >= message.Audible, Links: version >= message.Structured}}
}

// spoken returns the protocol revision that a request is answered in. asked is what
// the SDK says of it: the request's own, which meta has, or what the client wanted
// when it met the server. There it got another when that is none of those.
func spoken(asked string, meta mcp.Meta) string {
	if meta[message.KeyVersion] == nil && (asked >= message.Modern || !slices.Contains(mcp.SupportedProtocolVersions(), asked)) {
		return message.LastHandshake
	}
	return asked
}

// The members of the "_meta" of every result that comes from a table.
const (
	metaRevision = "bindery.dev/revision" // a number; 0 for a bundle from a file
	metaDigest   = "bindery.dev/digest"   // the bundle's, in hexadecimal
)

// An answer is a result whose members are bytes already; only "_meta", to which
// the SDK adds, is marshalled when it is sent. It is how a node's results keep
// the order of members and the spelling of numbers that an upstream chose.
type answer struct {
	mcp.ResultBase
	members []byte // `"name":value` separated by commas; empty only if bare
	bare    bool   // nothing is added to members, not even "_meta"
}

// newAnswer returns an answer of t with these members for a client that speaks
// version.
func newAnswer(t *table.Table, version string, members []byte) *answer {
	if version >= message.Modern {
		members = append(members, `,"resultType":"complete"`...)
	}
	a := &answer{members: members}
	a.Meta = mcp.Meta{metaRevision: t.Generation().GetNumber(), metaDigest: t.Digest().String()}
	return a
}

// with returns a with more in its "_meta".
func (a *answer) with(more map[string]rawjson.Value) *answer {
	for key, value := range more {
		a.Meta[key] = json.RawMessage(value)
	}
	return a
}

// newQuestion returns an answer of t that asks q.
func newQuestion(t *table.Table, q *asked) *answer {
	return newAnswer(t, "", appendAsked(nil, q))
}

// MarshalJSON returns the members and, unless a is bare, "_meta" as one object.
func (a *answer) MarshalJSON() ([]byte, error) {
	return a.appendJSON(make([]byte, 0, len(a.members)+256))
}

func (a *answer) appendJSON(dst []byte) ([]byte, error) {
	dst = append(append(dst, '{'), a.members...)
	if !a.bare {
		meta, err := json.Marshal(a.Meta)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"_meta":`...), meta...)
	}
	return append(dst, '}'), nil
}
