// Package verify is the second opinion on a repository (semantics.md section 8):
// it reads the stored fetches at one snapshot, computes in one batch what they
// mean (package batch: no observers, no incremental state), and compares that
// with everything the observers left, in the repository and in the index files.
//
// With the observers it shares how a body is read (page) and how rows are spelled
// (schema), nothing else. It runs while the pipeline is running: the snapshot is
// taken at a moment when nothing was left to do, and stays readable.
package verify
