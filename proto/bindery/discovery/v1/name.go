package discoveryv1

import (
	"errors"
	"fmt"
	"regexp"
)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$`)

// CheckName returns an error unless name can name a group or a node: 1 to 128
// letters, digits, dots, dashes and underscores, with a letter or digit at both
// ends. Names appear in keys of the store, in metrics and on terminals.
func CheckName(name string) error {
	if name == "" {
		return errors.New("is empty")
	}
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%.140q is no name: use up to 128 letters, digits, dots, dashes and underscores, with a letter or digit at both ends", name)
	}
	return nil
}
