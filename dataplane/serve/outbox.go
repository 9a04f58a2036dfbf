package serve

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	// maxUnsent is how many bytes a client that listens can be behind with.
	maxUnsent = 4 << 20
	// lastWords is how long a client that listens has for what is not sent at the end.
	lastWords = time.Second
)

// errBehind is that a client does not read, or no longer.
var errBehind = errors.New("the client does not read what it listens for")

// An outbox is the response to a client that listens. What is written to it is sent by a
// goroutine of its own: the SDK tells one client after the other of a change, and one that
// does not read would keep it from the others. The stream of a client that is too far
// behind, or gone, ends. Writing and flushing never wait.
type outbox struct {
	http.ResponseWriter
	end  context.CancelFunc // ends the stream
	wake chan struct{}      // has one when there is something to send; closed at the end
	sent chan struct{}      // closed when nothing is sent any more

	mu     sync.Mutex
	unsent []byte
	over   bool // nothing is taken any more
}

// newOutbox returns what sends to w until it is closed. It calls end when it cannot.
func newOutbox(w http.ResponseWriter, end context.CancelFunc) *outbox {
	o := &outbox{ResponseWriter: w, end: end, wake: make(chan struct{}, 1), sent: make(chan struct{})}
	go o.send()
	return o
}

// Write takes p to be sent. The error is errBehind.
func (o *outbox) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || len(o.unsent)+len(p) > maxUnsent {
		o.stop()
		return 0, errBehind
	}
	o.unsent = append(o.unsent, p...)
	o.signal()
	return len(p), nil
}

// FlushError has the header sent, if nothing else. The error is errBehind.
func (o *outbox) FlushError() error {
	_, err := o.Write(nil)
	return err
}

// close waits until what was taken is sent, or cannot be. The response is not written
// after it.
func (o *outbox) close() {
	o.mu.Lock()
	o.over = true
	close(o.wake)
	o.mu.Unlock()
	// A connection without deadlines is a test's.
	_ = http.NewResponseController(o.ResponseWriter).SetWriteDeadline(time.Now().Add(lastWords))
	<-o.sent
}

// send sends what is taken.
func (o *outbox) send() {
	defer close(o.sent)
	control := http.NewResponseController(o.ResponseWriter)
	for range o.wake {
		_, err := o.ResponseWriter.Write(o.take())
		if err == nil {
			err = control.Flush()
		}
		if err != nil {
			o.mu.Lock()
			o.stop()
			o.mu.Unlock()
			return
		}
	}
}

// take returns what is to be sent.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.unsent
	o.unsent = nil
	return p
}

// stop ends the stream. The caller holds mu.
func (o *outbox) stop() {
	o.over = true
	o.end()
}

// signal has what is taken sent. The caller holds mu, and nothing is over.
func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default: // it will be
	}
}
