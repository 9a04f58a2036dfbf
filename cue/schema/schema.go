// Package schema holds the CUE module that authors import, bindery.dev@v1, and
// whose package bind is the language of bindings.
package schema

import "embed"

// Path is the import path of the language.
const Path = "bindery.dev/bind"

// FS holds the module: cue.mod/module.cue and the files of bind.
//
//go:embed cue.mod bind
var FS embed.FS
