package stdio

import (
	"bufio"
	"errors"
)

// A line is what came in, up to a newline or the end.
type line struct {
	text    []byte // without the newline; nil if tooLong
	tooLong bool
}

// follow sends line after line until the input or the connection ends.
func (c *Conn) follow() {
	defer close(c.lines)
	in := bufio.NewReader(c.cfg.In)
	for {
		l, err := readLine(in, c.cfg.Max)
		if len(l.text) > 0 || l.tooLong {
			select {
			case c.lines <- l:
			case <-c.gone:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads up to a newline or the end, of which err tells. Of a line that is
// longer than limit no more than that is kept at any time.
func readLine(in *bufio.Reader, limit int) (l line, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if l.tooLong = l.tooLong || len(l.text)+len(part) > limit; l.tooLong {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}
