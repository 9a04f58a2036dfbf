package table

import (
	"cmp"
	"strings"

	irv1 "github.com/bindery-dev/bindery/proto/bindery/ir/v1"
)

// accept returns the header Accept that asks for ranges before JSON; "" for no
// ranges.
func accept(ranges []*irv1.MediaRange) string {
	if len(ranges) == 0 {
		return ""
	}
	var all []string
	for _, r := range ranges {
		all = append(all, TypeName(r.GetKind())+"/"+cmp.Or(r.GetSubtype(), "*"))
	}
	return strings.Join(append(all, "application/json;q=0.5"), ", ")
}

// TypeName returns the name that the media types of a kind of part begin with.
func TypeName(k irv1.PartKind) string {
	switch k {
	case irv1.PartKind_PART_KIND_IMAGE:
		return "image"
	case irv1.PartKind_PART_KIND_AUDIO:
		return "audio"
	}
	return "text"
}
