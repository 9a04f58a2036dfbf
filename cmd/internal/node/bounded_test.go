package node

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestBoundedWrites writes to a client that reads slowly, and to one that does not read: the
// first gets all of it, however long that takes, and the connection of the other breaks.
func TestBoundedWrites(t *testing.T) {
	server, client := net.Pipe()
	defer client.Close()
	const timeout = 100 * time.Millisecond
	c := &boundedConn{server, timeout}
	want := bytes.Repeat([]byte("piece"), maxPiece)
	wrote := make(chan error, 1)
	go func() {
		n, err := c.Write(want)
		if err == nil && n != len(want) {
			err = io.ErrShortWrite
		}
		wrote <- err
	}()
	got := make([]byte, len(want))
	for n := 0; n < len(want); n += maxPiece {
		if _, err := io.ReadFull(client, got[n:n+maxPiece]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(timeout / 4) // it is slow
	}
	if err := wait(t, "all is written", wrote); err != nil || !bytes.Equal(got, want) {
		t.Errorf("error is %v", err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}
