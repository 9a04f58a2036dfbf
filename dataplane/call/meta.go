package call

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
	"github.com/bindery-dev/bindery/dataplane/table"
	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// setMeta sets the headers that the fields of meta stand for, and generates those
// that are absent and can be. Fields without a rule are ignored. Null is a value of
// the wrong type and not an absent field, so that no header gets lost unnoticed.
func setMeta(header *head, t *table.Tool, a arguments) error {
	if a.meta != nil && a.meta.Kind() != rawjson.Object {
		return invalidf("argument %q must be an object, not %s", "meta", a.meta.Kind())
	}
	for _, rule := range t.Meta {
		value, err := metaValue(rule, a, t.Deps())
		if err != nil {
			return err
		}
		if value != "" {
			header.set(rule.GetHeader(), value)
		}
	}
	return nil
}

// metaValue returns the header value of a field of a; "" when the header is left out.
func metaValue(rule *irv1.MetaRule, a arguments, deps *table.Deps) (string, error) {
	value, err := said(rule, a)
	if err != nil {
		return "", err
	}
	if value == "" {
		value = hinted(rule, a)
	}
	if value == "" {
		return madeUp(rule, a, deps)
	}
	if rule.GetKey() && a.fork != nil {
		value = forked(rule, value, a.fork)
	}
	if rule.GetNamespace() != "" {
		return namespaced(rule, value, a.inbound)
	}
	return value, nil
}

// said returns what the argument meta of a has for a rule; "" when it has nothing.
func said(rule *irv1.MetaRule, a arguments) (string, error) {
	v := a.meta.Member(rule.GetField())
	if v == nil || rule.GetHidden() {
		return "", nil
	}
	value, ok := v.Text()
	if !ok {
		return "", invalidf("meta.%s must be a string", rule.GetField())
	}
	if problem := checkMeta(rule, value); problem != "" {
		return "", invalidf("meta.%s %s", rule.GetField(), problem)
	}
	return value, nil
}

// madeUp returns what stands for a field that the caller of a left out: what did so in
// the call that this one goes on with, if there was one.
func madeUp(rule *irv1.MetaRule, a arguments, deps *table.Deps) (value string, err error) {
	if value = a.generated[rule.GetField()]; value == "" {
		value, err = absent(rule, deps)
	}
	if value != "" && a.generated != nil {
		a.generated[rule.GetField()] = value
	}
	if value != "" && rule.GetKey() && a.fork != nil {
		value = forked(rule, value, a.fork)
	}
	return value, err
}

// namespaced returns what stands for the key in the namespace of its caller. No key
// of one caller is ever sent for a key of another: a header's value has no zero byte.
func namespaced(rule *irv1.MetaRule, key string, inbound http.Header) (string, error) {
	callers := inbound.Values(rule.GetNamespace())
	if len(callers) != 1 || callers[0] == "" {
		return "", invalidf("meta.%s needs one header %s on the request that carries the call", rule.GetField(), rule.GetNamespace())
	}
	sum := sha256.Sum256([]byte(callers[0] + "\x00" + key))
	return hex.EncodeToString(sum[:]), nil
}

// absent returns what stands for a field that the caller left out.
func absent(rule *irv1.MetaRule, deps *table.Deps) (string, error) {
	switch rule.GetGenerate() {
	case irv1.Generate_GENERATE_UUID:
		return deps.UUID(), nil
	case irv1.Generate_GENERATE_TIMESTAMP:
		return deps.Now().UTC().Format(time.RFC3339), nil
	}
	if rule.GetRequired() {
		return "", invalidf("meta.%s is missing", rule.GetField())
	}
	return "", nil
}

// checkMeta returns what is wrong with value, without repeating it; "" if nothing
// is.
func checkMeta(rule *irv1.MetaRule, value string) string {
	switch {
	case value == "":
		return "must not be empty"
	case len(value) < int(rule.GetMinLength()):
		return "is too short"
	case len(value) > int(rule.GetMaxLength()):
		return "is too long"
	case !irv1.ValidHeaderValue(value):
		return "must be printable ASCII without spaces at its ends"
	case len(rule.GetOneOf()) > 0 && !slices.Contains(rule.GetOneOf(), value):
		return "must be one of " + strings.Join(rule.GetOneOf(), ", ")
	}
	return checkFormat(rule.GetFormat(), value)
}

func checkFormat(format irv1.Format, value string) string {
	switch format {
	case irv1.Format_FORMAT_DATE:
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return "must be a date such as 2026-01-31"
		}
	case irv1.Format_FORMAT_DATE_TIME:
		if !isDateTime(value) {
			return "must be a date and time such as 2026-01-31T09:30:00Z"
		}
	case irv1.Format_FORMAT_UUID:
		if !isUUID(value) {
			return "must be a UUID"
		}
	case irv1.Format_FORMAT_URI:
		if u, err := url.Parse(value); err != nil || !u.IsAbs() || strings.Contains(value, " ") {
			return "must be an absolute URI"
		}
	}
	return ""
}

// dateTime is the form of a date-time of RFC 3339 (section 5.6), whose letters may be in
// either case. [time.Parse] alone also takes other ones.
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// isDateTime reports whether s is a date-time. A leap second is the last of a day in UTC.
func isDateTime(s string) bool {
	if !dateTime.MatchString(s) {
		return false
	}
	before, isLeap := s, s[17:19] == "60"
	if isLeap {
		before = s[:17] + "59" + s[19:]
	}
	at, err := time.Parse(time.RFC3339, strings.ToUpper(before))
	hour, minute, _ := at.UTC().Clock()
	return err == nil && (!isLeap || hour == 23 && minute == 59)
}

// isUUID reports whether s is a UUID in its usual form (RFC 9562, section 4).
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'):
			return false
		}
	}
	return true
}
