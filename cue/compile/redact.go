package compile

import (
	"slices"

	"github.com/bindery-dev/bindery/cue/diag"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	sourcev1 "github.com/bindery-dev/bindery/proto/bindery/source/v1"
)

// A redacted is a place of redact, as the author wrote it.
type redacted struct {
	path  []string           // ends with the place
	at    *sourcev1.Position // nil: in another package
	lacks string             // the name in it that no tool knows; "" if tools know all, or are wrong themselves
	known []string           // what tools know in its stead
}

// redaction reads the places that a binding hides and those that it reveals. Its tools
// have been read.
func (rd *reading) redaction(v value) {
	fields := v.fields()
	for _, at := range sorted(fields) {
		fields[at].note()
		p := place(at)
		if fields[at].flag() {
			rd.out.ir.Redact = append(rd.out.ir.Redact, p)
		} else {
			rd.out.ir.Reveal = append(rd.out.ir.Reveal, p)
		}
		r := redacted{path: fields[at].path, at: fields[at].where()}
		if !rd.list.Failed() {
			r.lacks, r.known = rd.lacks(p)
		}
		rd.out.redacted = append(rd.out.redacted, r)
	}
	if n := max(len(rd.out.ir.GetRedact()), len(rd.out.ir.GetReveal())); n > irv1.MaxRedacted {
		rd.tooManyPlaces(v, n)
	}
}

// lacks returns the argument, or the field of meta, that p is in and no tool of the
// binding takes, and those that tools take; "" when there is no such. What a payload or a
// response has is not known: schemas leave most objects open.
func (rd *reading) lacks(p *irv1.Place) (name string, known []string) {
	if p.GetSide() != irv1.Side_SIDE_REQUEST {
		return "", nil
	}
	names, steps := rd.callNames(), p.GetSteps()
	if len(steps) > 1 && steps[0].GetToken() == "meta" && slices.Contains(names, "meta") {
		names, steps = rd.metaNames(), steps[1:]
	}
	if len(steps) == 0 || steps[0].GetEvery() != nil || slices.Contains(names, steps[0].GetToken()) {
		return "", nil
	}
	return steps[0].GetToken(), names
}

// callNames returns the names of the arguments that tools of the binding take, sorted.
func (rd *reading) callNames() []string {
	var names []string
	for _, t := range rd.out.ir.GetTools() {
		names = append(names, known(t)...)
	}
	return unique(names)
}

// metaNames returns the fields of meta that the binding has rules for.
func (rd *reading) metaNames() []string {
	var names []string
	for _, rule := range rd.out.ir.GetMeta() {
		names = append(names, rule.GetField())
	}
	return names
}

// checkRedacted reports places of redact where nothing ever is: a misspelt one would hide
// nothing. What a layer says has to be known to one of the bindings that have it from
// there. What another package says may be for other modules.
func checkRedacted(bindings []*binding, r report) {
	type origin struct{ at, place string }
	from := func(p redacted) origin { return origin{diag.Place(p.at), p.path[len(p.path)-1]} }
	sound := map[origin]bool{}
	for _, b := range bindings {
		for _, p := range b.redacted {
			sound[from(p)] = sound[from(p)] || p.lacks == ""
		}
	}
	for _, b := range bindings {
		for _, p := range b.redacted {
			if p.at != nil && !sound[from(p)] {
				r.idleRedaction(p)
			}
		}
	}
}
