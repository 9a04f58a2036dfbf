package rawjson

import (
	"fmt"
	"strconv"
	"strings"
)

// Normal returns the one way to write the number v as digits without zeros at either end,
// and an exponent. A number whose exponent is beyond all reason, and what is no number,
// stays as it is.
func (v Value) Normal() Value {
	if v.Kind() != Number {
		return v
	}
	mantissa, e, _ := strings.Cut(strings.ToLower(string(v)), "e")
	exponent := 0
	if e != "" {
		n, err := strconv.Atoi(e)
		if err != nil || n > 1<<40 || n < -1<<40 {
			return v
		}
		exponent = n
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return Value("0")
	}
	return fmt.Appendf(nil, "%s%se%d", sign, trimmed, exponent+len(digits)-len(trimmed))
}
