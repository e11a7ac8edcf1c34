// Package pdf reads PDF documents in separate processes, because the documents come from
// strangers, and reading one may crash, never end, or use up all memory.
//
// A [Reader] starts a program, usually its own, in a mode in which the program calls [Serve].
// Such a child reads one document after another from its standard input, and writes each result
// to its standard output. A start takes seconds of processor time, because the child compiles
// PDFium, so children stay until the Reader is closed. A child that crashes or takes too long
// affects only the document that it was reading: that document gets an [Unreadable] error, and
// the next one a new child.
//
// # Limits
//
//	processor time  30 s for a document, on Linux
//	real time       10 min for a document on Linux, where a busy machine costs no document;
//	                elsewhere 2 min
//	memory          512 MiB for PDFium (package convert), and on Linux 1.5 GiB of data for a child
//	text            4 MiB of HTML (package convert)
//	children        2 at a time
//
// A child has no use for files or the network. PDFium can reach neither, because it is
// WebAssembly. A child ends when its parent does.
package pdf

import "time"

// Version is the version of the reader. It rises with every change that changes the HTML of
// some document. Documents that another version has read are read again when they are loaded
// again.
const Version = 2

// The limits of one document, and of the start of a child.
type limits struct {
	processor time.Duration // where it can be measured
	real      time.Duration // where it can
	realOnly  time.Duration // where it cannot
	body      int           // bytes
	result    int           // bytes
}

var usual = limits{processor: 30 * time.Second, real: 10 * time.Minute, realOnly: 2 * time.Minute, body: 1 << 30, result: 6 << 20}

// maxChildren is how many children there are at a time. Each has 300 MB while it starts, and
// then 50 MB and what a document needs.
const maxChildren = 2

// Unreadable is the error of a document that cannot be read. Its text says why.
type Unreadable string

func (u Unreadable) Error() string { return string(u) }
