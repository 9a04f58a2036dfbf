package accept

import (
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

// text is what a schema demands of strings. The zero text demands nothing.
type text struct {
	minimum, maximum int // code points; maximum -1: none
	bounded          bool
	pattern          *regexp.Regexp
	format           func(string) bool
}

func (t *text) verdict(v rawjson.Value) Verdict {
	if !t.bounded && t.pattern == nil && t.format == nil {
		return Yes
	}
	inner, ok := plain(v)
	if !ok {
		return Unknown
	}
	if t.bounded {
		n := utf8.RuneCount(inner)
		if n < t.minimum || t.maximum >= 0 && n > t.maximum {
			return No
		}
	}
	if t.pattern != nil && !t.pattern.Match(inner) || t.format != nil && !t.format(string(inner)) {
		return No
	}
	return Yes
}

// number is what a schema demands of numbers: bounds that are integers. The zero
// number demands nothing.
type number struct {
	minimum, maximum       int64
	hasMinimum, hasMaximum bool
}

// maxDigits is how long an integer may be to be compared here.
const maxDigits = 15

func (n *number) verdict(v rawjson.Value) Verdict {
	if !n.hasMinimum && !n.hasMaximum {
		return Yes
	}
	i, ok := integer(v)
	switch {
	case !ok:
		return Unknown
	case n.hasMinimum && i < n.minimum, n.hasMaximum && i > n.maximum:
		return No
	}
	return Yes
}

// integer returns the value of a short integer without fraction and exponent.
func integer(v rawjson.Value) (int64, bool) {
	if len(v) > maxDigits {
		return 0, false
	}
	i, err := strconv.ParseInt(string(v), 10, 64)
	return i, err == nil
}

// array is what a schema demands of arrays. The zero array demands nothing.
type array struct {
	items            *node // nil: anything
	minimum, maximum int   // elements; maximum -1: none
	bounded          bool
	unique           bool
}

func (a *array) verdict(v rawjson.Value, steps *int) Verdict {
	if a.items == nil && !a.bounded && !a.unique {
		return Yes
	}
	count, sum := 0, Yes
	for e := range v.Elements() {
		count++
		if a.items == nil {
			continue
		}
		if sum = worse(sum, a.items.verdict(e, steps)); sum == No {
			return No
		}
	}
	if a.bounded && (count < a.minimum || a.maximum >= 0 && count > a.maximum) {
		return No
	}
	if a.unique && count > 1 {
		return worse(sum, Unknown)
	}
	return sum
}

// object is what a schema demands of objects. The zero object demands nothing.
type object struct {
	members  map[string]*member // by name
	required int                // how many members have to be there
	others   *node              // what members have to satisfy that are in no member with a schema; nil: nothing
}

// A member is one that a schema names.
type member struct {
	schema   *node // nil: it is only required
	required bool
}

func (o *object) verdict(v rawjson.Value, steps *int) Verdict {
	if o.members == nil && o.others == nil {
		return Yes
	}
	found, sum := 0, Yes
	for name, value := range v.Members() {
		inner, ok := plain(name)
		if !ok {
			return Unknown
		}
		m := o.members[string(inner)]
		if m != nil && m.required {
			found++
		}
		demand := o.others
		if m != nil && m.schema != nil {
			demand = m.schema
		}
		if demand == nil {
			continue
		}
		if sum = worse(sum, demand.verdict(value, steps)); sum == No {
			return No
		}
	}
	if found < o.required {
		return No
	}
	return sum
}
