// Package engine holds what all engines of package store share: it checks a request against
// the declared groups and limits before the engine touches anything, normalises selectors,
// counts calls, and refuses calls once the table is closed.
package engine
