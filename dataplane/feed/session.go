package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
	"google.golang.org/grpc"
)

type syncClient = grpc.BidiStreamingClient[discoveryv1.SyncRequest, discoveryv1.SyncResponse]

// A dialer makes one session after the other.
type dialer struct {
	*activator
	said string // the last failure that was logged as a warning
}

// session serves one stream to one address until it ends. A failure like the one
// before is not worth a warning: a control plane may be away for long.
func (d *dialer) session(ctx context.Context, addr string) {
	err := stream(ctx, d.activator, addr)
	if ctx.Err() != nil {
		return
	}
	level := slog.LevelWarn
	if err.Error() == d.said {
		level = slog.LevelDebug
	}
	d.said = err.Error()
	d.cfg.Log.Log(ctx, level, "no control plane: keeping what runs and trying again", "control_plane", addr, "error", err)
}

// stream connects, and takes what comes. It returns why it ended, never nil.
func stream(ctx context.Context, a *activator, addr string) error {
	conn, err := Dial(addr, a.cfg.DialOptions...)
	if err != nil {
		return err
	}
	defer conn.Close()
	s, err := discoveryv1.NewDiscoveryServiceClient(conn).Sync(ctx)
	if err != nil {
		return err
	}
	if err := a.attach(s); err != nil {
		return err
	}
	defer a.detach()
	a.cfg.Log.Info("connected to the control plane", "control_plane", addr)
	for {
		g, err := receive(s)
		if err != nil {
			return err
		}
		if err := a.take(ctx, g); err != nil {
			return err
		}
	}
}

// A delivery is a generation as it came, with nothing verified.
type delivery struct {
	push  *discoveryv1.Push
	blobs [][]byte
	at    time.Time // of the last byte
}

// maxBlobs is more than the manifest of any bundle can name. It bounds blobs that are
// empty.
const maxBlobs = uint32(irv1.MaxBundle / len(irv1.Digest{}))

// receive reads one generation.
func receive(s syncClient) (delivery, error) {
	m, err := s.Recv()
	if err != nil {
		return delivery{}, err
	}
	d := delivery{push: m.GetPush()}
	if d.push == nil {
		return delivery{}, errors.New("the control plane sent a blob that no push announced")
	}
	if d.push.GetBlobs() > maxBlobs {
		return delivery{}, fmt.Errorf("the control plane announced %d blobs for one generation, more than %d", d.push.GetBlobs(), maxBlobs)
	}
	total := len(d.push.GetManifest())
	for range d.push.GetBlobs() {
		m, err := s.Recv()
		if err != nil {
			return delivery{}, err
		}
		if m.GetBlob() == nil {
			return delivery{}, fmt.Errorf("the control plane announced %d blobs and sent %d", d.push.GetBlobs(), len(d.blobs))
		}
		d.blobs = append(d.blobs, m.GetBlob().GetData())
		if total += len(m.GetBlob().GetData()); total > irv1.MaxBundle {
			return delivery{}, fmt.Errorf("the control plane sent more than %d bytes for one generation", irv1.MaxBundle)
		}
	}
	d.at = time.Now()
	return d, nil
}
