package diag

import (
	"slices"
	"strings"
)

// Nearest returns a hint for a name that is not among those that exist:
// `did you mean "x"?` when one is close to it, else the list of them, or "" when
// there is none or there are too many to be of use.
func Nearest(name string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	if best, found := Closest(name, names); found {
		return `did you mean "` + best + `"?`
	}
	const most = 24
	if len(names) > most {
		return ""
	}
	return "one of " + strings.Join(slices.Sorted(slices.Values(names)), ", ")
}

// Closest returns the one of the names that name is most likely meant to be, and false
// when none is close to it.
func Closest(name string, names []string) (string, bool) {
	if len(names) == 0 {
		return "", false
	}
	best := slices.MinFunc(names, func(a, b string) int { return distance(name, a) - distance(name, b) })
	return best, distance(name, best) <= max(1, len(name)/3)
}

// distance is the number of bytes to insert, delete, replace or swap with their
// neighbour to get from a to b, without regard to case.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
