package compile

import (
	"slices"
	"strings"

	"github.com/bindery-dev/bindery/cue/document"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

var checkLevels = map[string]irv1.CheckLevel{
	"":       irv1.CheckLevel_CHECK_LEVEL_WARN,
	"warn":   irv1.CheckLevel_CHECK_LEVEL_WARN,
	"reject": irv1.CheckLevel_CHECK_LEVEL_REJECT,
}

// checks reads those of the tool t, whose arguments are known.
func (rd *reading) checks(t *irv1.Tool, v value) []*irv1.CallCheck {
	return each(v, func(name string, v value) *irv1.CallCheck {
		v.note()
		return rd.check(t, name, v)
	})
}

func (rd *reading) check(t *irv1.Tool, name string, v value) *irv1.CallCheck {
	c := &irv1.CallCheck{Name: name, Level: checkLevels[v.get("level").text()], Message: v.get("message").text()}
	has, subset := v.get("has"), v.get("subset")
	switch {
	case has.exists() == subset.exists():
		if v.cue.Err() == nil {
			rd.checkCondition(v, name)
		}
	case has.exists():
		c.Kind = &irv1.CallCheck_Has{Has: rd.checkPlace(t, has)}
	default:
		c.Kind = &irv1.CallCheck_Subset{Subset: &irv1.Subset{These: rd.checkPlace(t, subset.get("these")), Of: rd.checkPlace(t, subset.get("of"))}}
	}
	if or := v.get("or"); or.exists() {
		or.get("equals").note()
		c.Or = &irv1.Alternative{At: rd.checkPlace(t, or.get("at"))}
		if values := scalars(or.get("equals")); len(values) == 1 {
			c.Or.Equals = values[0]
		}
	}
	return c
}

// checkPlace reads a place of a check and reports one in an argument that t does not
// have: nothing is ever there.
func (rd *reading) checkPlace(t *irv1.Tool, v value) *irv1.Place {
	p := place(v.text())
	if p.GetSide() != irv1.Side_SIDE_REQUEST || len(p.GetSteps()) == 0 {
		return p
	}
	if name := p.GetSteps()[0].GetToken(); name != "" && !slices.Contains(known(t), name) {
		rd.idlePlace(v, name, known(t))
	}
	return p
}

// known returns the names of the arguments of t.
func known(t *irv1.Tool) []string {
	var names []string
	for _, a := range t.GetArguments() {
		names = append(names, a.GetName())
	}
	if len(t.GetMeta()) > 0 {
		names = append(names, "meta")
	}
	if t.GetPayload() != nil {
		names = append(names, "payload")
	}
	return names
}

var sides = map[string]irv1.Side{"request": irv1.Side_SIDE_REQUEST, "response": irv1.Side_SIDE_RESPONSE}

// place splits a place that the schema has accepted.
func place(s string) *irv1.Place {
	side, _, _ := strings.Cut(s, "/")
	p := &irv1.Place{Side: sides[side]}
	for _, token := range document.Tokens(s[len(side):]) {
		step := &irv1.Step{Kind: &irv1.Step_Token{Token: token}}
		if token == "*" {
			step = &irv1.Step{Kind: &irv1.Step_Every{Every: &irv1.Every{}}}
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}
