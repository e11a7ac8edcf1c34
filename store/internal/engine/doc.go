// Package engine holds what all engines of package store do alike: checking a
// request against the declared groups and limits before anything is touched,
// normalising selectors, counting calls, and refusing them once the table is closed.
package engine
