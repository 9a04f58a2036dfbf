package front

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
)

// Decode reads body into v. A member that v does not have is an error, like a
// value of the wrong type; the answer is nil when all is well.
func Decode(body []byte, v any) *Answer { return DecodeAt("$", body, v) }

// DecodeAt is Decode for a part of a body: at is the JSONPath to it.
func DecodeAt(at string, data []byte, v any) *Answer {
	err := Strict(data, v)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		param := at
		if wrong.Field != "" {
			param += "." + wrong.Field
		}
		return Invalid(param, "This value has the wrong type.")
	}
	// encoding/json has no type for this one, and does not say where it was.
	if _, quoted, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return Invalid(at+anywhere(strings.Trim(quoted, `"`)), "This member is not known.")
	}
	return Invalid(at, "This value could not be understood.")
}

var simpleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// anywhere ends a JSONPath in all members of a name below, however deep. It is
// empty for names that a path would have to quote.
func anywhere(name string) string {
	if !simpleName.MatchString(name) {
		return ""
	}
	return ".." + name
}

// Strict is json.Unmarshal that refuses unknown members. Types with their own
// UnmarshalJSON call it to stay as strict as what they are part of.
func Strict(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// Missing says that a member is required.
func Missing(param string) *Answer {
	return Fail(http.StatusBadRequest, Error{Code: "missing_required_field", Message: "This member is required.", Param: param})
}

// Invalid says that a member is not what it has to be.
func Invalid(param, message string) *Answer {
	return Fail(http.StatusBadRequest, Error{Code: "invalid_field", Message: message, Param: param})
}
