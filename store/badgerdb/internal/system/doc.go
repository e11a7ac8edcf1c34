// Package system does for a table what each operating system does in its own way: it locks
// directories, maps files, and tells how much room a disk has and what is in resident memory.
package system
