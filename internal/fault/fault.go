// Package fault ends the process with an error message when it can no longer write to a
// mapped file, because the disk is full.
//
// The store and the index files are written through memory maps of sparse files. When the
// disk is full, touching the next page raises SIGBUS, in any goroutine: most of them belong
// to libraries, and Badger alone has four kinds. Go's runtime then ends the process with the
// stacks of all goroutines and status 2. debug.SetPanicOnFault does not help: it applies to
// one goroutine, and those of libraries do not recover. Checking for free space first does
// not help either, because another process can take it in between.
//
// So [Arm] handles the signal before the runtime does. The handler is not Go: on that stack, and
// at any point of the program, it may only make system calls. It makes one, execve: the program
// starts again, in the same process and with prepared arguments, and reports the error in the
// usual way, with the usual exit status. For the files this is like kill -9: the maps keep what
// was written, locks are released, and acknowledged writes survive.
//
// Only a fault of a mapped file counts (BUS_ADRERR); any other SIGBUS goes to the runtime,
// as all do on systems other than Linux on amd64 and arm64.
package fault
