package irv1

// MaxRedacted is the number of places that one binding can redact, and of those that
// it can reveal.
const MaxRedacted = 256

func (p *problems) redaction(b *Binding) {
	for _, places := range [][]*Place{b.GetRedact(), b.GetReveal()} {
		p.check(len(places) <= MaxRedacted, "redact", "there are %d places, at most %d can be", len(places), MaxRedacted)
	}
}
