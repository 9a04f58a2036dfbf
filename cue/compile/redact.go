package compile

import irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"

// redaction reads the places that a binding hides and those that it reveals.
func (rd *reading) redaction(v value) {
	fields := v.fields()
	for _, at := range sorted(fields) {
		fields[at].note()
		if fields[at].flag() {
			rd.out.ir.Redact = append(rd.out.ir.Redact, place(at))
		} else {
			rd.out.ir.Reveal = append(rd.out.ir.Reveal, place(at))
		}
	}
	if n := max(len(rd.out.ir.GetRedact()), len(rd.out.ir.GetReveal())); n > irv1.MaxRedacted {
		rd.tooManyPlaces(v, n)
	}
}
