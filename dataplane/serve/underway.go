package serve

import (
	"context"
	"sync"
)

// underWay counts calls. The zero value counts none. It is safe for concurrent use.
type underWay struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when there are none; nil while nobody waits for that
}

func (u *underWay) add(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n += n
	if u.n == 0 && u.none != nil {
		close(u.none)
		u.none = nil
	}
}

// wait waits until there are none, or until ctx is done: then it returns its error.
func (u *underWay) wait(ctx context.Context) error {
	select {
	case <-u.ended():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended returns what is closed as soon as there are none.
func (u *underWay) ended() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if u.none == nil {
		u.none = make(chan struct{})
	}
	return u.none
}
