// Package build says which build of Bindery is running: what the Go toolchain
// recorded in the binary comes in, one word for people and wire messages goes
// out.
package build

import "runtime/debug"

// Version returns the module version, such as "v1.2.0", of a build from a tagged
// module; else "devel" with the first 12 digits of the commit, where known, and
// "+dirty" when there were uncommitted changes. It is never empty.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return devel
	}
	return version(info)
}

const devel = "devel"

func version(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	v := devel
	if commit := settings["vcs.revision"]; commit != "" {
		v += "-" + commit[:min(12, len(commit))]
	}
	if settings["vcs.modified"] == "true" {
		v += "+dirty"
	}
	return v
}
