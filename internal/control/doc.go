// Package control sends requests to the process that has a data directory open.
//
// Only one process at a time can open the store. It serves a Unix socket in the directory;
// other processes send requests there and print the answers. The package carries requests,
// output and exit statuses; its users define what they mean.
//
// # The socket
//
//	DIR/control.sock    mode 0600: only the same user and root may connect;
//	                    mode 0660 if the group may write to the directory
//
// Invariants:
//
//  1. A server starts only in the process that holds the lock of the store. If an
//     existing socket answers, it belongs to another process and is left alone
//     (ErrServed). If it does not answer, a killed process left it, and it is
//     replaced.
//  2. The socket gets its name only after it listens and its mode is set: it is
//     created in a directory of mode 0700 next to it, and then renamed.
//  3. A server removes only the socket that it created.
//
// The address of a socket holds about 100 bytes, and paths of data directories can be
// longer. Both sides then bind or connect through a short symbolic link in the temporary
// directory, which they remove at once (dial.go). The rejected alternative, a socket
// elsewhere and a file that names it, leaves two things that can become stale, and fails
// if the directory is mounted under another path.
//
// # The conversation
//
// One connection carries one request. Both sides send frames: a kind (1 byte), a length
// (4 bytes, big endian), and that many bytes.
//
//	client → server   'q'  the request, JSON: {"version":2,"command":…}
//	server → client   'o'  bytes for standard output
//	                  'e'  bytes for standard error
//	                  'a'  empty: a heartbeat, at once and then every second
//	                  'x'  the exit status, JSON: {"status":0}; the last frame
//	                  'r'  refused, JSON: {"reason":…,"busy":…}; the only frame
//
// The client cancels the request by closing the connection. The server cancels the context
// of the handler when it notices that, or when the client has taken no frames for a long
// time. The client gives up (ErrSilent) when it has received nothing for ten seconds, not
// even a heartbeat: the server is stopped, or waits for a disk that does not answer. The
// kernel accepts connections and requests on behalf of such a process, so only silence
// reveals it. A connection that ends without 'x' is ErrCutOff: the output is incomplete.
package control
