// Package pgtest gives tests a PostgreSQL server: a real one from the system's packages,
// with an empty data directory of its own, that listens on a Unix socket only.
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main{M: m}) }
//
//	table, err := postgres.Open(ctx, pgtest.Shared(t).Schema(t), groups, postgres.Options{})
//
// One server serves all tests of a package, and each test has a schema in it. A test that
// can have no server skips and says what to install.
//
// The server runs with fsync off, except for benchmarks. A commit then survives a killed
// server, because the operating system has its bytes, but not a failure of the machine, which
// no test causes.
package pgtest
