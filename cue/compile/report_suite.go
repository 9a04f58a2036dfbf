package compile

import (
	"fmt"

	"github.com/bindery-dev/bindery/cue/diag"
	"github.com/bindery-dev/bindery/cue/outline"
)

func (r report) bindingsInTest(places []outline.Place) {
	for _, p := range places {
		r.list.Errorf(diag.Problem{Pos: p.Label, Code: "bindings-in-test", Path: "bindings", Hint: "say it in a file whose name does not end in _test.cue"},
			"a test file says nothing about bindings: no bundle has it")
	}
}

func (r report) misplacedTests(places []outline.Place) {
	for _, p := range places {
		r.list.Errorf(diag.Problem{Pos: p.Label, Code: "misplaced-tests", Path: "tests", Hint: "move them to a file whose name ends in _test.cue"},
			"tests in this file are not run")
	}
}

func (r report) testNotOwner(name string, places []outline.Place, owner *pkg) {
	for _, p := range places {
		r.list.Errorf(diag.Problem{Pos: p.Label, Code: "not-owner", Path: dotted("tests", name), Hint: "give this test another name"},
			"test %q belongs to %s; a directory below may not touch it", name, directory(owner.dir))
	}
}

func (x examiner) notATest(v value, name string) {
	x.list.Errorf(v.atLabel("not-a-test", "write tests: "+fmt.Sprintf("%q", name)+": bind.#Test & {...}"),
		"what is under tests must be a bind.#Test: nothing holds this to the language")
}

func (r report) unknownBinding(v value, name string, known []string) {
	r.list.Errorf(v.at("unknown-binding", diag.Nearest(name, known)), "the module has no binding %q", name)
}

// unknown reports a name of a kind, such as "tool", that nothing of the module has.
func (r report) unknown(kind string, v value, name string, known []string) {
	r.list.Errorf(v.at("unknown-"+kind, diag.Nearest(name, known)), "the module has no %s %q", kind, name)
}

func (r report) unknownOf(binding, kind string, v value, name string, known []string) {
	r.list.Errorf(v.at("unknown-"+kind, diag.Nearest(name, known)), "binding %q has no %s %q", binding, kind, name)
}

func (r report) ambiguous(kind string, v value, name string, bindings []string) {
	r.list.Errorf(v.at("ambiguous-"+kind, "add binding: with one of "+quoted(bindings)), "several bindings have a %s %q", kind, name)
}

func (r report) noSubject(v value) {
	r.list.Errorf(v.atLabel("no-subject", `add tool: "NAME", prompt: "NAME", resource: "URI" or completion: {...}`), "the test does not say what is called")
}

func (r report) noForm(v value) {
	r.list.Errorf(v.atLabel("no-subject", `add prompt: "NAME", or template: "NAME"`), "the test does not say what is filled in")
}

// unknownArgument reports an argument that what a test fills in, a subject of a kind, does
// not have.
func (r report) unknownArgument(v value, kind, subject, name string, known []string) {
	r.list.Errorf(v.at("unknown-argument", diag.Nearest(name, known)), "%s %q has no argument %q", kind, subject, name)
}

func (r report) unknownCheck(v value, name, tool string, known []string) {
	if tool == "" {
		r.list.Errorf(v.atLabel("unknown-check", "remove it"), "no tool is called, so there is no check %q", name)
		return
	}
	r.list.Errorf(v.atLabel("unknown-check", diag.Nearest(name, known)), "tool %q has no check %q", tool, name)
}

func (r report) noExpectation(v value) {
	r.list.Errorf(v.atLabel("no-expectation", "add result: {...}, or error: {code: ..., message: ...}"), "the test does not say what the caller gets")
}

func (r report) noResponse(v value) {
	r.list.Errorf(v.atLabel("no-response", "add response: {...} to the test"), "the upstream gets this request, and the test does not say what it answers")
}

func (r report) noRequest(v value) {
	r.list.Errorf(v.atLabel("no-request", "add request: {...} to the test, or remove response"),
		"a test without a request states that the upstream is not called, so it cannot answer")
}

func (r report) eitherOr(v value, a, b string) {
	r.list.Errorf(v.atLabel("either-or", "keep one"), "%s and %s cannot both be given", a, b)
}

func (r report) headerTwiceInTest(v value, header string) {
	r.list.Errorf(v.atLabel("header-twice", "keep one: the case of letters does not count"), "header %s is stated twice", header)
}
