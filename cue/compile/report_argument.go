package compile

import (
	"fmt"
	"strings"

	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

func (r report) reservedArgument(v value, name string) {
	r.list.Errorf(v.atLabel("reserved-argument", "give it another name"), "every tool's argument %q has a meaning of its own", name)
}

func (r report) unboundParameter(v value, name string, unused []string) {
	hint := fmt.Sprintf("add args: %s: description: %q", name, "...")
	if near := diag.Nearest(name, unused); strings.HasPrefix(near, "did") {
		hint = near
	}
	r.list.Errorf(v.at("unbound-parameter", hint), "no argument fills the path parameter {%s}", name)
}

func (r report) unusedArgument(v value, name string, inPath []string) {
	hint := `put {` + name + `} into http, or write in: "query"`
	if near := diag.Nearest(name, inPath); strings.HasPrefix(near, "did") {
		hint = near
	}
	r.list.Errorf(v.atLabel("unknown-argument", hint), "the path has no {%s}", name)
}

func (r report) misplacedArgument(v value, name string) {
	r.list.Errorf(v.at("misplaced-argument", `remove in, or {`+name+`} from http`), "argument %q is in the path and cannot be in the %s, too", name, v.quiet())
}

func (r report) optionalInPath(v value, name string) {
	r.list.Errorf(v.at("optional-in-path", "remove required: false"), "argument %q is in the path and so is required", name)
}

func (r report) misplacedObject(v value) {
	r.list.Errorf(v.at("misplaced-object", `write in: "query" or in: "body"`), "only the query and the body can hold an object")
}

func (r report) argumentTwice(v value, a *irv1.Argument, other string) {
	place := map[irv1.ArgumentIn]string{
		irv1.ArgumentIn_ARGUMENT_IN_QUERY: "query parameter", irv1.ArgumentIn_ARGUMENT_IN_HEADER: "header", irv1.ArgumentIn_ARGUMENT_IN_BODY: "part of the body",
	}[a.GetIn()]
	r.list.Errorf(v.atLabel("argument-twice", "give one of them another name with as"), "arguments %q and %q have the same %s", other, a.GetName(), place)
}

func (r report) idleField(v value, field, why string) {
	r.list.Errorf(v.atLabel("idle-field", "remove it"), "%s has no effect here: %s", field, why)
}

func (r report) schemaKind(v value, typ, hint string) {
	r.list.Errorf(v.at("schema-type", hint), "no %s satisfies this schema, so every call with the argument is refused", typ)
}

func (r report) emptyEnum(v value) {
	r.list.Errorf(v.at("enum-type", "list a value, or remove it"), "no value is accepted")
}

func (r report) enumType(v value, typ irv1.ArgumentType) {
	r.list.Errorf(v.at("enum-type", "change the value, type or items"), "no %s is equal to it, so it is never accepted", typeNames[typ])
}

func (r report) badArgumentHeader(v value, name string) {
	r.list.Errorf(v.at("illegal-header", "letters, digits and \"-\", at most 64; say another one with as"), "%q is not the name of a header", name)
}

func (r report) clientHeaderTwice(v value, header, other string) {
	r.list.Errorf(v.at("header-twice", "give one of them another header"), "clients say argument %q in the header %s already", other, header)
}

func (r report) clientHeaderType(v value) {
	r.list.Errorf(v.at("client-header-type", "remove it, or say another type"), "only a string, an integer or a boolean can be said in a header")
}

func (r report) badPlace(v value, s string) {
	r.list.Errorf(v.at("bad-pointer", `a "~" is written ~0, a "/" ~1`), "%q is not a JSON Pointer", s)
}

func (r report) deepPlace(v value) {
	r.list.Errorf(v.at("bad-pointer", ""), "a place in the body is at most %d members deep", irv1.MaxPlace)
}

func (r report) bodyOnGet(v value) {
	r.list.Errorf(v.at("body-on-get", `use another method, or write in: "query"`), "a GET request has no body to put an argument into")
}

func (r report) bodyTwice(v value) {
	r.list.Errorf(v.at("body-twice", "remove payload, or the arguments of the body"), "the payload is the body already")
}
