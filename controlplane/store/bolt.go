package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// lockWait is how long [Bolt] waits for another process to let go of a file: a
// restart may overlap with the end of the process it replaces.
const lockWait = 2 * time.Second

var bucket = []byte("bindery")

type boltKV struct{ db *bolt.DB }

// Bolt opens the file bindery.db in the directory dir, which it makes if it has
// to. Every commit is synced to disk. The error says what to do when another
// process has the file open or when it is damaged.
func Bolt(dir string) (KV, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	path := filepath.Join(dir, "bindery.db")
	db, err := openBolt(path)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("data directory %s is in use by another process: end that one, or name another directory", dir)
	} else if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return boltKV{db}, nil
}

// guarded calls f, which uses bbolt, and turns a panic over a damaged file into an error,
// and so a fault: bbolt maps the file into memory, and looks for pages beyond the end of
// one that is cut off. The transaction that panicked is rolled back by bbolt, and what lies
// in other pages stays usable.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the file is damaged (%v): restore a copy, or move it away to begin with an empty store", r)
		}
	}()
	return f()
}

func openBolt(path string) (db *bolt.DB, err error) {
	err = guarded(func() (err error) {
		db, err = open(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	return db, nil
}

func open(path string) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait, FreelistType: bolt.FreelistMapType})
	if errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) || errors.Is(err, bolterrors.ErrVersionMismatch) {
		return nil, fmt.Errorf("the file is damaged or no store of this program (%w): restore a copy, or move it away to begin with an empty store", err)
	} else if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// view calls f within a transaction that reads.
func (b boltKV) view(ctx context.Context, f func(*bolt.Bucket)) error {
	return guarded(func() error {
		return b.db.View(func(tx *bolt.Tx) error {
			f(tx.Bucket(bucket))
			return ctx.Err()
		})
	})
}

func (b boltKV) Get(ctx context.Context, key string) (value []byte, found bool, err error) {
	err = b.view(ctx, func(bucket *bolt.Bucket) {
		if v := bucket.Get([]byte(key)); v != nil {
			value, found = append([]byte{}, v...), true
		}
	})
	return value, found, err
}

func (b boltKV) List(ctx context.Context, prefix, before string, limit int) ([]Pair, error) {
	var pairs []Pair
	err := b.view(ctx, func(bucket *bolt.Bucket) {
		c := bucket.Cursor()
		for k, v := seekBefore(c, prefix, before); len(pairs) < limit && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Prev() {
			pairs = append(pairs, Pair{Key: string(k), Value: append([]byte{}, v...)})
		}
	})
	return pairs, err
}

// seekBefore moves c to the last key that comes before the key before, or to the
// last key with the prefix when before is "" or behind all of them.
func seekBefore(c *bolt.Cursor, prefix, before string) (key, value []byte) {
	end := append([]byte(prefix), 0xff) // behind every key of the prefix: keys are ASCII
	if before != "" && before < string(end) {
		end = []byte(before)
	}
	if key, _ := c.Seek(end); key == nil {
		return c.Last()
	}
	return c.Prev()
}

func (b boltKV) Commit(ctx context.Context, t Txn) error {
	if err := errors.Join(t.Check(), ctx.Err()); err != nil {
		return err
	}
	return guarded(func() error {
		return b.db.Update(func(tx *bolt.Tx) error { return do(t, tx.Bucket(bucket)) })
	})
}

// do does t within a transaction of bbolt; after an error nothing of that may stay.
func do(t Txn, bucket *bolt.Bucket) error {
	for _, c := range t.If {
		v := bucket.Get([]byte(c.Key))
		if (v == nil) != (c.Value == nil) || !bytes.Equal(v, c.Value) {
			return ErrConflict
		}
	}
	for _, p := range t.Put {
		if err := bucket.Put([]byte(p.Key), p.Value); err != nil {
			return err
		}
	}
	return nil
}

func (b boltKV) Close() error { return b.db.Close() }
