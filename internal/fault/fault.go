// Package fault ends a process in good order whose memory maps of files can no longer be
// written.
//
// The store and the index files are written through such maps, of files that are longer
// than what the disk has given them. When the disk is full, touching the next page is not
// an error but a SIGBUS, in whatever goroutine it happens: most are of libraries, and
// Badger alone has four kinds. Go's runtime ends the process then with the stacks of all
// goroutines and status 2. debug.SetPanicOnFault does not help: it is for one goroutine,
// and nobody recovers in those. Nor does asking for space before: another process can take
// it in between.
//
// So [Arm] takes the signal before the runtime does. The handler is not Go: on that stack, and in
// the middle of anything, it may only make system calls. It makes one, execve: the program
// starts anew, in the same process and with arguments that were prepared, and tells what
// has happened in the usual way, with the usual exit status. To the files this is what
// kill -9 is. The maps keep what was written, locks are released, and what was acknowledged
// is there.
//
// Only a fault of a mapped file counts (BUS_ADRERR); any other SIGBUS goes to the runtime,
// as all do on systems other than Linux on amd64 and arm64.
package fault
