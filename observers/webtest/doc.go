// Package webtest tests the whole pipeline: it makes small random webs with a history
// (web.go), loads them in memory, on any table and with an index in memory (rig.go,
// sink.go), and compares everything that the pipeline left with the batch over the same
// fetches (compare.go). If a web fails, it removes the fetches that are not needed to make
// it fail (shrink.go).
//
// The tests of observers, loader, verify and repository use it.
package webtest
