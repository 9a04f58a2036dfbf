// Package seal keeps what a node will need again with who asks for it: bytes come in,
// and a text goes out that says nothing to who has it, and that any node with the same
// secret opens for what it is bound to, for a time.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// MinSecret is how long a secret should be at least, in bytes: who has a sealed text can
// try out secrets on it.
const MinSecret = 32

// ErrSealed is returned by [Box.Open] for a text that it does not open, whatever the
// reason.
var ErrSealed = errors.New("what was sealed does not open")

// What a sealed text begins with: how it is sealed, and what its key is derived with.
const (
	form     = 1
	saltSize = 16
)

// purpose keeps keys of other uses of a secret apart.
const purpose = "bindery seal 1"

// A Box seals with the first of its secrets and opens with any. Secrets are looked up
// each time.
type Box struct {
	lookup func(name string) (string, error)
	names  []string
}

// New returns a box with the secrets called names, the first of which seals. lookup
// finds their values.
func New(lookup func(name string) (string, error), names ...string) *Box {
	return &Box{lookup, names}
}

// Seal returns data sealed: it opens until end, in seconds, for who names the same
// bounds in the same order. The error is that of looking the secret up.
func (b *Box) Seal(data []byte, end time.Time, bounds ...string) (string, error) {
	secret, err := b.lookup(b.names[0])
	if err != nil {
		return "", err
	}
	sealed := make([]byte, 1+saltSize, 1+saltSize+8+len(data)+16)
	sealed[0] = form
	_, _ = rand.Read(sealed[1:]) // never fails
	aead, nonce := keyOf(secret, sealed[1:])
	plain := append(binary.BigEndian.AppendUint64(nil, uint64(end.Unix())), data...)
	return base64.RawURLEncoding.EncodeToString(aead.Seal(sealed, nonce, plain, joined(bounds))), nil
}

// Open returns what text has sealed, at the time now. The error is [ErrSealed], or that
// of looking up a secret.
func (b *Box) Open(text string, now time.Time, bounds ...string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < 1+saltSize || sealed[0] != form {
		return nil, ErrSealed
	}
	salt, box := sealed[1:1+saltSize], sealed[1+saltSize:]
	for _, name := range b.names {
		secret, err := b.lookup(name)
		if err != nil {
			return nil, err
		}
		aead, nonce := keyOf(secret, salt)
		plain, err := aead.Open(nil, nonce, box, joined(bounds))
		if err != nil {
			continue
		}
		if len(plain) < 8 || now.Unix() >= int64(binary.BigEndian.Uint64(plain)) {
			break
		}
		return plain[8:], nil
	}
	return nil, ErrSealed
}

// keyOf returns a cipher with a key of its own for every salt, so that the nonce, which
// follows from the same, is never used twice with one key.
func keyOf(secret string, salt []byte) (aead cipher.AEAD, nonce []byte) {
	const keySize, nonceSize = 32, 12
	// These fail only for sizes that are not used here.
	derived, _ := hkdf.Key(sha256.New, []byte(secret), salt, purpose, keySize+nonceSize)
	block, _ := aes.NewCipher(derived[:keySize])
	aead, _ = cipher.NewGCM(block)
	return aead, derived[keySize:]
}

// joined returns texts as one that no other list of texts becomes.
func joined(texts []string) []byte {
	var all []byte
	for _, s := range texts {
		all = binary.BigEndian.AppendUint64(all, uint64(len(s)))
		all = append(all, s...)
	}
	return all
}
