package discovery

import (
	"context"
	"errors"
	"sync"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/protobuf/proto"
)

// A delivery is one generation in the form it is sent: every blob is encoded once,
// and every Push once for each bundle that nodes hold.
type delivery struct {
	generation *discoveryv1.Generation
	manifest   *irv1.Manifest
	raw        []byte // the manifest's bytes
	blob       func(context.Context, irv1.Digest) ([]byte, error)

	mu    sync.Mutex
	blobs map[irv1.Digest]encoded
	from  map[irv1.Digest][]encoded // by the bundle held; zero: none
}

func newDelivery(gen *discoveryv1.Generation, manifest []byte, blob func(context.Context, irv1.Digest) ([]byte, error)) (*delivery, error) {
	m, err := irv1.OpenManifest(manifest)
	if err != nil {
		return nil, err
	}
	return &delivery{
		generation: gen, manifest: m, raw: manifest, blob: blob,
		blobs: map[irv1.Digest]encoded{}, from: map[irv1.Digest][]encoded{},
	}, nil
}

// messages returns what to send to a node that holds the blobs of held: a Push and
// the blobs it lacks. What a bundle holds that is not in the store is not known:
// then every blob is sent.
func (d *delivery) messages(ctx context.Context, held *discoveryv1.Generation) ([]encoded, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key, _ := irv1.ParseDigest(held.GetDigest())
	if messages, ok := d.from[key]; ok {
		return messages, nil
	}
	has := d.contents(ctx, key)
	if has == nil && key != (irv1.Digest{}) {
		key = irv1.Digest{}
		if messages, ok := d.from[key]; ok {
			return messages, nil
		}
	}
	messages, err := d.encode(ctx, has)
	if err == nil {
		d.from[key] = messages
	}
	return messages, err
}

// contents returns the blobs of a bundle in the store; nil when it is not there.
func (d *delivery) contents(ctx context.Context, bundle irv1.Digest) map[irv1.Digest]bool {
	raw := d.raw
	if bundle != irv1.DigestOf(d.raw) {
		var err error
		if raw, err = d.blob(ctx, bundle); err != nil {
			return nil
		}
	}
	m, err := irv1.OpenManifest(raw)
	if err != nil {
		return nil
	}
	has := map[irv1.Digest]bool{}
	for _, r := range m.Refs() {
		has[irv1.Digest(r.GetSha256())] = true
	}
	return has
}

func (d *delivery) encode(ctx context.Context, has map[irv1.Digest]bool) ([]encoded, error) {
	messages := []encoded{nil} // the Push, when the blobs are counted
	sent := map[irv1.Digest]bool{}
	for _, r := range d.manifest.Refs() {
		digest := irv1.Digest(r.GetSha256())
		if has[digest] || sent[digest] {
			continue
		}
		sent[digest] = true
		blob, err := d.encodeBlob(ctx, digest)
		if err != nil {
			return nil, err
		}
		messages = append(messages, blob)
	}
	push, err := encode(&discoveryv1.SyncResponse{Kind: &discoveryv1.SyncResponse_Push{Push: &discoveryv1.Push{
		Generation: d.generation, Manifest: d.raw, Blobs: uint32(len(messages) - 1),
	}}})
	messages[0] = push
	return messages, err
}

func (d *delivery) encodeBlob(ctx context.Context, digest irv1.Digest) (encoded, error) {
	if e, ok := d.blobs[digest]; ok {
		return e, nil
	}
	blob, err := d.blob(ctx, digest)
	if err != nil {
		return nil, err
	}
	e, err := encode(&discoveryv1.SyncResponse{Kind: &discoveryv1.SyncResponse_Blob{Blob: &discoveryv1.Blob{Data: blob}}})
	if err == nil {
		d.blobs[digest] = e
	}
	return e, err
}

func encode(m *discoveryv1.SyncResponse) (encoded, error) {
	raw, err := proto.Marshal(m)
	if err != nil {
		return nil, errors.Join(errors.New("encode"), err)
	}
	return raw, nil
}
