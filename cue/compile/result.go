package compile

import (
	"slices"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var resultModes = map[string]irv1.ResultMode{
	"dual": irv1.ResultMode_RESULT_MODE_DUAL,
	"mcp":  irv1.ResultMode_RESULT_MODE_MCP,
	"raw":  irv1.ResultMode_RESULT_MODE_RAW,
}

var partKinds = map[string]irv1.PartKind{
	"image": irv1.PartKind_PART_KIND_IMAGE,
	"audio": irv1.PartKind_PART_KIND_AUDIO,
	"text":  irv1.PartKind_PART_KIND_TEXT,
}

// result reads what becomes of a body and of headers of a response of the tool t,
// at v.
func (rd *reading) result(t *irv1.Tool, v value) {
	t.Result = resultModes[v.get("result").text()]
	t.Produces = rd.produces(v.get("produces"))
	t.ResultMeta = rd.resultMeta(t, v.get("resultMeta"))
	rd.contentParts(t, v.get("content"))
	t.MaxResultBytes = v.get("maxResultBytes").number(0)
	if parts := v.get("produces"); parts.exists() && t.GetResult() != irv1.ResultMode_RESULT_MODE_MCP && t.GetResult() != 0 {
		rd.partsOfNoResult(parts)
	}
	if len(t.GetResultMeta()) > 0 && t.GetResult() == irv1.ResultMode_RESULT_MODE_RAW {
		rd.metaOfNoResult(v.get("resultMeta"))
	}
}

// checkShown reports an output schema that results cannot keep: clients hold
// structuredContent to it.
func (rd *reading) checkShown(t *irv1.Tool, shown value) {
	switch {
	case !t.GetOutput().GetShown():
	case len(t.GetMoved()) > 0:
		rd.shownUnkept(shown, "what goes to _meta or to a part is not in it")
	case len(t.GetProduces()) > 0:
		rd.shownUnkept(shown, "a body that produces lists has none")
	case t.GetResult() == irv1.ResultMode_RESULT_MODE_RAW:
		rd.shownUnkept(shown, "a raw result has none")
	}
}

func (rd *reading) produces(v value) []*irv1.MediaRange {
	var all []*irv1.MediaRange
	for _, s := range v.texts() {
		name, sub, _ := strings.Cut(s, "/")
		r := &irv1.MediaRange{Kind: partKinds[name], Subtype: strings.TrimPrefix(sub, "*")}
		if !slices.ContainsFunc(all, func(q *irv1.MediaRange) bool { return q.GetKind() == r.GetKind() && q.GetSubtype() == r.GetSubtype() }) {
			all = append(all, r)
		}
	}
	return all
}

// resultMeta reads what of a response goes into the "_meta" of a result of t.
func (rd *reading) resultMeta(t *irv1.Tool, v value) []*irv1.ResultMeta {
	fields := v.fields()
	var all []*irv1.ResultMeta
	for _, key := range sorted(fields) {
		f := fields[key]
		m := &irv1.ResultMeta{Key: key}
		if irv1.ReservedMetaKey(key) {
			rd.reservedMetaKey(f, key)
		}
		if at := f.get("body"); at.exists() {
			f.note()
			m.Source = &irv1.ResultMeta_Body{Body: pointer(at.quiet())}
			if !f.get("keep").flag() {
				move(t, m.GetBody())
			}
		} else {
			header := canonical(f.text())
			m.Source = &irv1.ResultMeta_Header{Header: header}
			if irv1.SecretHeader(header) {
				rd.secretHeader(f, header)
			}
		}
		all = append(all, m)
	}
	return all
}

// checkSigned reports a tool, at v, that makes its body itself and takes the
// signature of another.
func (rd *reading) checkSigned(t *irv1.Tool, v value) {
	made := slices.ContainsFunc(t.GetArguments(), func(a *irv1.Argument) bool { return a.GetIn() == irv1.ArgumentIn_ARGUMENT_IN_BODY })
	for _, rule := range rd.out.ir.GetMeta() {
		if made && rule.GetSignsBody() && slices.Contains(t.GetMeta(), rule.GetField()) {
			rd.signedElsewhere(v, rule.GetField())
		}
	}
}
