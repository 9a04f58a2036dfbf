package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bindery-dev/bindery/cmd/internal/watch"
	discoveryv1 "github.com/bindery-dev/bindery/proto/bindery/discovery/v1"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// How long a bundle that may become servable by itself is left alone between two
// attempts: twice as long every time.
const (
	firstRetry = time.Second
	maxRetry   = 30 * time.Second
)

// followBundle serves the bundle in the file, and each that replaces it, until ctx
// is done. secrets signals that a secret may have come. The error is that of a file
// that is there from the start, when there is no hope for it. A file that is not there
// yet is waited for, and so is the rest of one that is only half written then.
func (n *node) followBundle(ctx context.Context, secrets <-chan struct{}) error {
	changes := watch.Path(ctx, n.cfg.Bundle, n.log)
	wait := firstRetry
	for first := true; ; first = false {
		err := n.loadBundle(ctx)
		var retry <-chan time.Time // nil never signals
		switch {
		case err == nil:
			wait = firstRetry
		case retryable(err):
			n.logRefusal(err)
			retry = time.After(wait)
			wait = min(2*wait, maxRetry)
		case errors.Is(err, fs.ErrNotExist):
			n.log.Warn("waiting for the bundle", "file", n.cfg.Bundle)
		case first:
			return err
		default:
			n.logRefusal(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
			wait = firstRetry
		case <-secrets:
		case <-retry:
		}
	}
}

// loadBundle serves what is in the file unless it is served already.
func (n *node) loadBundle(ctx context.Context) error {
	c, err := readBundle(n.cfg.Bundle, n.cfg.Alter)
	if err != nil {
		return err
	}
	if now := n.serve.Table(); now != nil && now.Digest() == c.Digest {
		return nil
	}
	commit, err := n.prepare(ctx, &discoveryv1.Generation{Digest: c.Digest[:]}, c)
	if err != nil {
		return fmt.Errorf("bundle %s: %w", n.cfg.Bundle, err)
	}
	commit()
	n.log.Info("running", "digest", c.Digest.Short(), "file", n.cfg.Bundle)
	return nil
}

// logRefusal writes a line for every reason why what is in the file is not served.
func (n *node) logRefusal(err error) {
	var refused *discoveryv1.Refused
	if !errors.As(err, &refused) {
		n.log.Error("bundle refused", "reason", err)
		return
	}
	for _, r := range refused.Reasons {
		n.log.Error("bundle refused", "file", n.cfg.Bundle, "code", r.GetCode(),
			"reason", r.Text(), "hint", r.GetHint(), "retryable", refused.Retryable)
	}
}

// readBundle returns the content of what alter, unless nil, makes of the bundle file at
// path. The error names the file and wraps [fs.ErrNotExist] when there is none, or is
// that of alter.
func readBundle(path string, alter func(*irv1.Bundle) (*irv1.Bundle, error)) (*irv1.Content, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	b := &irv1.Bundle{}
	if err := proto.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("%s is not a bundle: write one with bindery compile --out", path)
	}
	if alter != nil {
		if b, err = alter(b); err != nil {
			return nil, fmt.Errorf("bundle %s: %w", path, err)
		}
	}
	c, err := irv1.Open(b)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", path, err)
	}
	return c, nil
}

// maxFile is the size, in bytes, that no bundle file exceeds: a bundle, and what
// frames its parts.
const maxFile = irv1.MaxBundle + 1<<20

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than a bundle can be, %d bytes", path, irv1.MaxBundle)
	}
	return data, err
}

// retryable reports whether what err complains about may change without the
// bundle changing.
func retryable(err error) bool {
	var refused *discoveryv1.Refused
	return errors.As(err, &refused) && refused.Retryable
}
