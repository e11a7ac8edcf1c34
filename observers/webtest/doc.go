// Package webtest tests the pipeline as a whole: small random webs with history
// (web.go), the pipeline in memory on any table (rig.go) with index documents in
// memory (sink.go), and the comparison of everything it left with the batch over
// the very fetches that were loaded (compare.go). A web that fails is cut down to
// the fetches it needs to fail (shrink.go).
//
// It is used by the tests of observers, loader and verify.
package webtest
