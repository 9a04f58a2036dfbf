package node

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestBoundedWrites writes to a client that reads slowly, and to one that does not read: the
// first gets all of it, however long that takes, and the connection of the other breaks.
func TestBoundedWrites(t *testing.T) { synctest.Test(t, testBoundedWrites) }

func testBoundedWrites(t *testing.T) {
	server, client := net.Pipe()
	defer client.Close()
	const timeout = time.Minute
	c := &boundedConn{Conn: server, timeout: timeout}
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
		time.Sleep(timeout / 2) // it is slow
	}
	if err := wait(t, "all is written", wrote); err != nil || !bytes.Equal(got, want) {
		t.Errorf("error is %v", err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

// TestDeadlineHolds has a write begin, and go on, after a deadline was set that is sooner
// than the end of a piece.
func TestDeadlineHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		c := &boundedConn{Conn: server, timeout: time.Minute}
		if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		go func() { _, _ = io.ReadFull(client, make([]byte, maxPiece)) }()
		n, err := c.Write(make([]byte, 2*maxPiece))
		if took := time.Since(began); n != maxPiece || !errors.Is(err, os.ErrDeadlineExceeded) || took != time.Second {
			t.Errorf("it wrote %d bytes in %s: %v", n, took, err)
		}
		_ = c.SetWriteDeadline(time.Time{})
		go func() { _, _ = io.ReadFull(client, make([]byte, 1)) }()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Errorf("without a deadline: %v", err)
		}
	})
}
