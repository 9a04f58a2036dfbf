package compile

import (
	"fmt"

	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func (r report) askQuestion(v value, name string) {
	r.list.Errorf(v.atLabel("ask-question", `write requests: "/inputRequests", form: {...} or url: {...}`), "ask %q has one question: requests, form or url", name)
}

func (r report) askAlways(v value, name string) {
	r.list.Errorf(v.atLabel("ask-always", `add what tells such an answer from others: body: "/status": "..."`),
		"ask %q matches every 2xx, so that no call ever ends", name)
}

func (r report) askTooLong(v value) {
	r.list.Errorf(v.at("ask-too-long", ""), "the schema of a form has at most %d bytes", irv1.MaxAskText)
}

func (r report) formProperty(v value, name string) {
	r.list.Errorf(v.atLabel("form-property", `write type: "string", "number", "integer", "boolean", or an array of choices with items: enum`),
		"clients have no field in a form for property %q", name)
}

func (r report) askTie(a, b value, first, second string, c *irv1.Condition) {
	r.list.Errorf(b.atLabel("ask-tie", "have one look at one place more: neither is more specific"),
		"asks %q (%s) and %q both match %s", first, diag.Place(a.where()), second, c.Words())
}

func (r report) tooManyAsks(v value, n int) {
	r.list.Errorf(v.atLabel("too-many-asks", ""), "there are %d asks, at most %d can be", n, irv1.MaxAsks)
}

func (r report) askUnfilled(v value, name, tool string) {
	r.list.Errorf(v.atLabel("unfilled-argument", fmt.Sprintf(`add with: %s: "answers/..."`, name)), "tool %q is not called without argument %q", tool, name)
}

func (r report) askWithoutState(v value, name, binding string) {
	r.list.Errorf(v.atLabel("ask-without-state", fmt.Sprintf(`add bindings: %s: state: secret: "state-key"`, binding)),
		"ask %q goes on with what a client does not send again, and nothing seals it", name)
}

func (r report) silentNotices(v value) {
	r.list.Errorf(v.atLabel("silent-notices", "add progress: {}, or log: message: \"...\""), "there is nothing that a client hears")
}
