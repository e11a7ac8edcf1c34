// Package simbench simulates two parts of the Percolator paper for more workers than one
// machine can run: how workers scan for notifications, and how they get timestamps. A
// simulation with the same seed gives the same result.
//
//	scanning.go  platooning, and its cure (section 2.4)
//	oracle.go    one pending request per worker (section 2.3)
//
// A simulation shows what follows from a model. docs/scale.md says where the model's times
// come from, and what we measured with real processes.
package simbench
