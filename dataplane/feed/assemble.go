package feed

import (
	"errors"
	"fmt"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// blobs are the blobs of a bundle by their digests.
type blobs map[irv1.Digest][]byte

// A candidate is a whole generation with every digest verified.
type candidate struct {
	generation *discoveryv1.Generation
	content    *irv1.Content
	blobs      blobs
}

// assemble makes a generation of what came and what the node holds already. Bindings
// that are in running, which may be nil, are taken from there.
func assemble(d delivery, running *irv1.Content, held ...blobs) (*candidate, error) {
	gen := d.push.GetGeneration()
	want, err := irv1.ParseDigest(gen.GetDigest())
	if err != nil {
		return nil, err
	}
	if got := irv1.DigestOf(d.push.GetManifest()); got != want {
		return nil, fmt.Errorf("the manifest hashes to %s, the generation says %s", got.Short(), want.Short())
	}
	came := blobs{}
	for _, blob := range d.blobs {
		came[irv1.DigestOf(blob)] = blob
	}
	held = append(held, came)
	c := &candidate{generation: gen, blobs: make(blobs, len(held[0]))}
	c.content, err = irv1.OpenNext(running, d.push.GetManifest(), func(digest irv1.Digest) ([]byte, error) {
		blob, ok := find(digest, held)
		if !ok {
			return nil, fmt.Errorf("blob %s was not sent, and the node does not hold it", digest.Short())
		}
		c.blobs[digest] = blob
		return blob, nil
	})
	return c, err
}

func find(digest irv1.Digest, in []blobs) ([]byte, bool) {
	for _, b := range in {
		if blob, ok := b[digest]; ok {
			return blob, true
		}
	}
	return nil, false
}

// refuse returns the refusal of a generation for a cause that will not go away.
func refuse(code, hint, format string, args ...any) *discoveryv1.Refused {
	return &discoveryv1.Refused{Reasons: []*discoveryv1.Reason{{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}}}
}

func damaged(err error) *discoveryv1.Refused {
	return refuse("damaged-bundle", "restore the control plane's data directory, or apply again", "the bundle did not arrive whole: %v", err)
}

// misplaced returns why gen cannot follow what runs, nil when it can.
func misplaced(gen, running *discoveryv1.Generation) *discoveryv1.Refused {
	const hint = "was an older store restored, or do two control planes feed this group?"
	switch order := gen.Compare(running); {
	case order < 0:
		return refuse("stale-generation", hint, "generation %d comes before generation %d, which the node runs", gen.GetNumber(), running.GetNumber())
	case order == 0:
		return refuse("conflicting-generation", hint, "the node runs another bundle as generation %d", gen.GetNumber())
	}
	return nil
}

// refused returns err as the control plane is told it.
func refused(err error) *discoveryv1.Refused {
	var r *discoveryv1.Refused
	if errors.As(err, &r) && len(r.Reasons) > 0 {
		return r
	}
	return refuse("internal", "report this: the node should have named a cause", "the node cannot run the bundle: %v", err)
}
