// Package discoveryv1 is what nodes and control planes say to each other: the messages
// that bindery/discovery/v1/discovery.proto describes and, by hand, the order of
// generations and the reasons of a refusal.
package discoveryv1
