// Package control lets processes ask the one that holds a data directory.
//
// The store belongs to one process at a time. That process serves a Unix socket
// in the directory; another that wants to know something sends its request
// there and passes on what comes back. The package carries requests, output and
// exit statuses; what they mean is its users' affair.
//
// # The socket
//
//	DIR/control.sock    mode 0600: only the same user (and root) may ask; 0660 where its group may write
//
// Numbered invariants:
//
//  1. A server begins only in the process that holds the store's lock. A socket
//     that is there already and answers belongs to somebody else, and is left
//     alone (ErrServed); one that does not answer was left by a process that was
//     killed, and is replaced.
//  2. The socket has its name only when it listens and its mode is set: it is
//     made in a directory of mode 0700 beside it, and then renamed.
//  3. A server removes the socket it made, and no other's.
//
// A socket's address holds about 100 bytes and paths of data directories are
// sometimes longer. Both sides then use a short symbolic link to the directory,
// in the temporary directory, for the moment of binding or connecting (dial.go).
// The alternative, a socket somewhere else and a file that says where, leaves
// two things that can be stale, and breaks when the directory is seen under
// another path.
//
// # The conversation
//
// One connection carries one request. All goes in frames: a kind (1 byte), a
// length (4 bytes, big endian), and so many bytes.
//
//	asking → serving   'q'  the request, JSON: {"version":2,"command":…}
//	serving → asking   'o'  bytes for standard output
//	                   'e'  bytes for standard error
//	                   'a'  nothing: a sign of life, at once and then each second
//	                   'x'  the exit status, JSON: {"status":0}; the last frame
//	                   'r'  refused, JSON: {"reason":…}; the only frame
//
// Whoever asked ends the request by closing the connection; the server sees
// that, or that nobody takes its frames for a long time, and cancels the
// handler's context. Whoever asked gives up (ErrSilent) when not even a sign of life
// comes for ten seconds: the process that was asked is stopped, or waits for a disk
// that does not answer. The kernel takes connections and requests for such a process,
// so that only silence shows it. A connection that ends without 'x' is ErrCutOff: what was
// printed is not all there was.
package control
