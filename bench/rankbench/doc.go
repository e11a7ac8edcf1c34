// Package rankbench measures what changes of links cost the ranks, beside full
// solves of the same graph in the same run.
//
// It makes a web (web.go), writes it into a store as it would lie there at rest
// (rig.go), and has nothing but the observer of ranks run on it. Pages are never
// interpreted and nothing is indexed, so that a million pages take minutes.
//
//	local.go   what is touched by a change of one page, by the size of the web
//	shares.go  a share of all pages changes: rank beside a full solve
//	errors.go  error against work: rank beside power iteration
package rankbench
