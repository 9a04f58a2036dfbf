package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// Fingerprint is equal for bodies that are semantically equal JSON: the order of
// members, whitespace, escapes and the way a number is written (1, 1.0, 10e-1)
// do not matter; the order of elements does, and null is not an absent member.
// A body that is not one JSON value has the fingerprint of its bytes.
func Fingerprint(body []byte) [32]byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return sha256.Sum256(body)
	}
	if _, err := dec.Token(); err != io.EOF {
		return sha256.Sum256(body)
	}
	canonical, err := json.Marshal(plain(v))
	if err != nil {
		return sha256.Sum256(body)
	}
	return sha256.Sum256(canonical)
}

// plain replaces every number in v by its one spelling. Members need no help:
// encoding/json writes maps sorted.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v.String())
	case map[string]any:
		for k, x := range v {
			v[k] = plain(x)
		}
	case []any:
		for i, x := range v {
			v[i] = plain(x)
		}
	}
	return v
}

// number spells a JSON number as its digits without leading or trailing zeros,
// an "e" and the power of ten they are multiplied by: 120 is 12e1. It never
// computes, so that 1e999999999 costs nothing.
func number(s string) json.Number {
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power, err := strconv.ParseInt("0"+strings.TrimLeft(exponent, "+-"), 10, 32)
	if err != nil {
		return json.Number(sign + s) // beyond what anybody means by a number: as written
	}
	if strings.HasPrefix(exponent, "-") {
		power = -power
	}
	power -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	power += int64(len(digits) - len(short))
	return json.Number(sign + short + "e" + strconv.FormatInt(power, 10))
}
