package rawjson_test

import (
	"testing"

	"github.com/bindery-dev/bindery/dataplane/rawjson"
)

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0.00e7": "0", "1": "1e0", "1.0": "1e0", "10e-1": "1e0", "100": "1e2", "1E+2": "1e2", "-0.0120": "-12e-3",
		"12345678901234567890.5": "123456789012345678905e-1", "1e99999999999999999999": "1e99999999999999999999", `"1.0"`: `"1.0"`, "[1.0]": "[1.0]",
	} {
		if got := string(rawjson.Value(in).Normal()); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}
