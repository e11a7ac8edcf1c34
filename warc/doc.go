// Package warc reads and writes WARC files, the standard container of recorded
// crawls (ISO 28500; WARC/1.0 and WARC/1.1 at iipc.github.io/warc-specifications).
//
// # Reading
//
// [Open] and [NewReader] return a [Reader]. [Reader.Fetches] yields one [page.Fetch] per
// response, resource and revisit record of an http or https URL; [Reader.Next] yields
// every record.
//
// Archives are damaged in many ways, and one bad byte must not cost the rest of a file. So a
// Reader
//
//  1. trusts magic numbers and not file names: for each member, it distinguishes gzip (a
//     member per record, several records per member, a record across members, one member
//     for the whole file), zstd (a frame per record, with the dictionary of the IIPC
//     zstd proposal) and plain text;
//  2. never stops silently: it reports everything that it skips or doubts as a [Problem]
//     with the file, the offset and the reason, and continues at the next gzip
//     member, zstd frame or "WARC/" line, or, in plain data, at a whole header within a
//     line, because a writer that was killed may have continued the file there;
//  3. never loses a record whose header is readable: if the body is cut off, corrupt, too
//     large or cannot be decoded, the fetch has Err set and so counts as a failed fetch
//     (semantics.md section 2), which leaves earlier successful fetches in force;
//  4. looks for records inside a block only after the block's length has proved
//     wrong, so that a page about WARC files stays a page;
//  5. holds at most one block ([Options].MaxBody) and one decoded body in memory,
//     whatever lengths a file claims and however well its contents compress, and
//     after damage rereads at most a fixed multiple of what it has read.
//
// From a pipe that stays open, a Reader returns a record when it is complete, without
// waiting for the next one: a plain record after its newlines, a compressed one after the
// checksum of its member. If a gzip member has several records, the first is returned when
// more of the member arrives, because only that shows that the member continues; the
// following ones are returned when the writer has flushed them.
//
// An error from Next or Fetches is an error of the underlying file, not of its
// contents.
//
// # Writing
//
// [Writer] writes WARC/1.1, with a gzip member per record. Its output depends only on its
// input: record ids are derived from contents, and no clock is read.
package warc
