// Package acp holds the sources of the example module: bindings for the checkout
// and for Delegate Payment of the Agentic Commerce Protocol.
package acp

import "embed"

// FS holds the module as authors keep it: its CUE files, those in cue.mod included,
// and its JSON Schema documents.
//
//go:embed *.cue cue.mod checkout payments
var FS embed.FS
