package stdio

import "io"

// An outgoing is a line for the client.
type outgoing struct {
	text    []byte     // with the newline
	written chan error // gets one, and has room for it
}

// say writes line after line until the connection is closed. It is apart from those that
// have something to say, who need not wait for a client that does not read.
func (c *Conn) say() {
	for {
		select {
		case l := <-c.out:
			_, err := c.cfg.Out.Write(l.text)
			l.written <- err
		case <-c.gone:
			return
		}
	}
}

// writeLine writes data, which has no newline, as a line. The error is
// [io.ErrClosedPipe] if the connection is closed before that is done: then nobody knows
// how much of it was written.
func (c *Conn) writeLine(data []byte) error {
	c.mu.Lock()
	c.spoken = true
	c.mu.Unlock()
	l := outgoing{append(data, '\n'), make(chan error, 1)}
	select {
	case c.out <- l:
	case <-c.gone:
		return io.ErrClosedPipe
	}
	select {
	case err := <-l.written:
		return err
	case <-c.gone:
		return io.ErrClosedPipe
	}
}
