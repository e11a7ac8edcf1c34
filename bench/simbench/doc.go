// Package simbench simulates, with deterministic seeds, two things of the Percolator paper
// for more workers than a machine can run: how workers scan for notifications, and how they
// take timestamps.
//
//	scanning.go  platooning, and its cure (section 2.4)
//	oracle.go    one pending request per worker (section 2.3)
//
// A simulation shows what follows from a model. docs/scale.md says where the times come
// from that go into it, and what was measured with real processes.
package simbench
