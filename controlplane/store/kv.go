package store

import (
	"context"
	"errors"
	"fmt"
)

// What one [Txn] may hold. They are those of etcd, whose requests end at 1.5 MB.
const (
	MaxOps   = 128     // conditions and puts together
	MaxBytes = 5 << 18 // of keys and values together: 1.25 MiB
)

// ErrConflict is returned by [KV.Commit] when a condition does not hold, and by
// [Store.Commit] when the group moved on meanwhile.
var ErrConflict = errors.New("the stored value is another than expected")

// KV is what a [Store] is kept in: an ordered map from keys to values with small
// atomic transactions. All methods may be called concurrently.
type KV interface {
	// Get returns the value of key and whether there is one. The value may be
	// empty.
	Get(ctx context.Context, key string) (value []byte, found bool, err error)

	// List returns up to limit pairs whose keys begin with prefix and come before
	// the key before, or all of the prefix when before is ""; last key first.
	List(ctx context.Context, prefix, before string, limit int) ([]Pair, error)

	// Commit does all of t or nothing. When it returns nil, t is durable. It
	// returns [ErrConflict] when a condition of t does not hold.
	Commit(ctx context.Context, t Txn) error

	// Close releases what the KV holds. No other method is called afterwards.
	Close() error
}

// Pair is a key with its value. A value that was read belongs to the reader.
type Pair struct {
	Key   string
	Value []byte
}

// Txn is a transaction: the puts happen if every condition holds.
type Txn struct {
	If  []Condition
	Put []Pair
}

// Condition says what a key holds before a [Txn].
type Condition struct {
	Key   string
	Value []byte // nil: there is no such key
}

// Check returns an error unless t is within [MaxOps] and [MaxBytes].
func (t Txn) Check() error {
	if ops := len(t.If) + len(t.Put); ops > MaxOps {
		return fmt.Errorf("transaction has %d operations, more than %d", ops, MaxOps)
	}
	size := 0
	for _, c := range t.If {
		size += len(c.Key) + len(c.Value)
	}
	for _, p := range t.Put {
		size += len(p.Key) + len(p.Value)
	}
	if size > MaxBytes {
		return fmt.Errorf("transaction has %d bytes, more than %d", size, MaxBytes)
	}
	return nil
}
