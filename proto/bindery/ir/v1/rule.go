package irv1

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Tie returns a condition by which a and b match the same failures, neither more
// specifically than the other; nil when there is none.
func Tie(a, b *ErrorRule) *Condition {
	if CompareRules(a, b) != 0 || apart(a, b) {
		return nil
	}
	for _, c := range b.GetConditions() {
		if slices.ContainsFunc(a.GetConditions(), func(d *Condition) bool { return CompareConditions(c, d) == 0 }) {
			return c
		}
	}
	return nil
}

// CompareRules orders rules that have a condition in common, the more specific
// before: one that asks for more places of the body, then one with a media type;
// by media type, so that 0 says that those are equal, too.
func CompareRules(a, b *ErrorRule) int {
	return cmp.Or(cmp.Compare(len(b.GetBody()), len(a.GetBody())), cmp.Compare(b.GetMediaType(), a.GetMediaType()))
}

// CompareConditions orders conditions: statuses, classes, failures.
func CompareConditions(a, b *Condition) int {
	return cmp.Or(
		cmp.Compare(weight(a), weight(b)),
		cmp.Compare(a.GetStatus(), b.GetStatus()),
		cmp.Compare(a.GetClass(), b.GetClass()),
		cmp.Compare(a.GetFailure(), b.GetFailure()),
	)
}

func weight(c *Condition) int {
	switch c.GetKind().(type) {
	case *Condition_Status:
		return 0
	case *Condition_Class:
		return 1
	}
	return 2
}

// CompareScalars orders values: texts, numbers, false, true.
func CompareScalars(a, b *Scalar) int {
	kind := func(s *Scalar) int {
		switch k := s.GetKind().(type) {
		case *Scalar_Text:
			return 0
		case *Scalar_Number:
			return 1
		case *Scalar_Truth:
			if !k.Truth {
				return 2
			}
		}
		return 3
	}
	return cmp.Or(cmp.Compare(kind(a), kind(b)), cmp.Compare(a.GetText(), b.GetText()), cmp.Compare(a.GetNumber(), b.GetNumber()))
}

// apart reports whether a and b want different values at one place, so that no body
// has what both want.
func apart(a, b *ErrorRule) bool {
	for _, c := range a.GetBody() {
		if d := at(b.GetBody(), c.GetAt()); d != nil && !slices.ContainsFunc(c.GetValues(), d.has) {
			return true
		}
	}
	return false
}

// at returns that of body which is about a place; nil when there is none.
func at(body []*BodyCondition, place *Pointer) *BodyCondition {
	i := slices.IndexFunc(body, func(c *BodyCondition) bool { return slices.Equal(c.GetAt().GetTokens(), place.GetTokens()) })
	if i < 0 {
		return nil
	}
	return body[i]
}

// has reports whether v is one of the values of c.
func (c *BodyCondition) has(v *Scalar) bool {
	return slices.ContainsFunc(c.GetValues(), func(w *Scalar) bool { return CompareScalars(v, w) == 0 })
}

// Words returns what c matches as people say it: "404", "4xx", "timeout".
func (c *Condition) Words() string {
	switch k := c.GetKind().(type) {
	case *Condition_Status:
		return fmt.Sprint(k.Status)
	case *Condition_Class:
		return fmt.Sprintf("%dxx", k.Class)
	}
	if c.GetFailure() == Failure_FAILURE_TOO_LARGE {
		return "tooLarge"
	}
	return strings.ToLower(strings.TrimPrefix(c.GetFailure().String(), "FAILURE_"))
}

// HasResponse reports whether f is about a response, which has a media type and headers.
func HasResponse(f Failure) bool {
	return f == Failure_FAILURE_UNUSABLE || f == Failure_FAILURE_TOO_LARGE
}

// ComparePointers orders places by their tokens.
func ComparePointers(a, b *Pointer) int { return slices.Compare(a.GetTokens(), b.GetTokens()) }
