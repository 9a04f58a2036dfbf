package redact

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// How texts are looked for, in characters.
const (
	// minPart is how long a text is at least that is also found within others. A
	// shorter one, such as the 12 of a month, is struck out only where it is all that a
	// string or a number says.
	minPart = 3
	// minWord is how long a text of letters only is at least that is also found within
	// words. A shorter one is found as a word: striking "val" out of "invalid" would
	// help nobody.
	minWord = 8
)

// maxTexts is how many texts an Echo takes, maxWork how many comparisons of 64 bytes
// it makes.
const (
	maxTexts = 4096
	maxWork  = 10_000_000
)

// ErrTooMuch is returned by [Echo.Strike] and [Echo.StrikeText] when there is more to
// look for, or to look through, than is worth the time: nothing is known of what the
// value repeats.
var ErrTooMuch = errors.New("redact: too much to compare")

// An Echo knows texts that an answer must not repeat. The zero Echo knows none. It is
// not safe for concurrent use.
type Echo struct {
	count int
	work  int
	whole map[string]bool
	parts map[string][]part // by their first bytes
}

// A part is a text that is found within others.
type part struct {
	text string
	word bool // it is found as a word only
}

// Add adds the string or number v: what it says and how it is written.
func (e *Echo) Add(v rawjson.Value) {
	text, ok := v.Text()
	if !ok {
		text = string(v)
	}
	e.AddText(text)
	if ok {
		for _, written := range []rawjson.Value{v, rawjson.Quote(text)} {
			if inner := string(written[1 : len(written)-1]); inner != text {
				e.AddText(inner)
			}
		}
	}
}

// AddText adds a text; "" adds nothing, and neither does one that was added before.
func (e *Echo) AddText(text string) {
	if text == "" || e.count > maxTexts {
		return
	}
	n := utf8.RuneCountInString(text)
	if n < minPart {
		if e.whole == nil {
			e.whole = map[string]bool{}
		}
		if !e.whole[text] {
			e.whole[text] = true
			e.count++
		}
		return
	}
	if e.parts == nil {
		e.parts = map[string][]part{}
	}
	p := part{text, n < minWord && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })}
	if key := text[:minPart]; !slices.Contains(e.parts[key], p) {
		e.parts[key] = append(e.parts[key], p)
		e.count++
	}
}

// Strike returns v with [Mask] in place of what repeats a text, in every string,
// number and name of a member at any depth. When nothing does, that is v itself. The
// error is ErrTooMuch.
func (e *Echo) Strike(v rawjson.Value) (rawjson.Value, error) {
	struck := e.strike(v)
	if e.exhausted() {
		return nil, ErrTooMuch
	}
	return struck, nil
}

// StrikeText is Strike for a text.
func (e *Echo) StrikeText(text string) (string, error) {
	struck := e.text(text)
	if e.exhausted() {
		return "", ErrTooMuch
	}
	return struck, nil
}

func (e *Echo) exhausted() bool { return e.count > maxTexts || e.work > maxWork }

func (e *Echo) strike(v rawjson.Value) rawjson.Value {
	switch v.Kind() {
	case rawjson.String:
		text, _ := v.Text()
		if struck := e.text(text); struck != text {
			return rawjson.Quote(struck)
		}
	case rawjson.Number:
		if e.text(string(v)) != string(v) {
			return rawjson.Quote(Mask)
		}
	case rawjson.Array, rawjson.Object:
		taken := map[string]int{}
		return v.Map(func(name, value rawjson.Value) (rawjson.Value, rawjson.Value) {
			return e.name(name, taken), e.strike(value)
		})
	}
	return v
}

// name is strike for the name of a member, which stays unlike the others of the
// object: taken has those, and the last number that was added to each.
func (e *Echo) name(v rawjson.Value, taken map[string]int) rawjson.Value {
	text, ok := v.Text()
	if !ok {
		return v
	}
	struck := e.text(text)
	unique := struck
	for taken[unique] > 0 {
		taken[struck]++
		unique = fmt.Sprint(struck, " ", taken[struck])
	}
	taken[unique] = 1
	if unique == text {
		return v
	}
	return rawjson.Quote(unique)
}

// text returns s with Mask in place of the texts that it repeats. Those that overlap have
// one for all of them.
func (e *Echo) text(s string) string {
	if e.whole[s] {
		return Mask
	}
	if len(e.parts) == 0 {
		return s
	}
	var b strings.Builder
	done := 0 // as far as s is in b, or in a mask
	for i := 0; i+minPart <= len(s) && !e.exhausted(); i++ {
		end := i + e.longest(s, i)
		if end == i || end <= done {
			continue
		}
		if i >= done {
			b.WriteString(s[done:i])
			b.WriteString(Mask)
		}
		done = end
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// longest returns the length of the longest text that s repeats at i.
func (e *Echo) longest(s string, i int) int {
	e.work++
	n := 0
	for _, p := range e.parts[s[i:i+minPart]] {
		e.work += 1 + len(p.text)/64
		if len(p.text) > n && strings.HasPrefix(s[i:], p.text) && (!p.word || isWord(s, i, i+len(p.text))) {
			n = len(p.text)
		}
	}
	return n
}

// isWord reports whether s[i:j] is not a part of a longer word.
func isWord(s string, i, j int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[j:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
