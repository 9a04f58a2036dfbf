// Package irv1 is the compiled form of modules, the IR: the messages that
// bindery/ir/v1/ir.proto describes and, by hand, what keeps a bundle whole ([Seal],
// [Open]) and says whether a node can run it ([Content.Validate]).
package irv1
