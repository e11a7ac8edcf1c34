// Package warc reads and writes WARC files, the standard container of recorded
// crawls (ISO 28500; WARC/1.0 and WARC/1.1 at iipc.github.io/warc-specifications).
//
// # Reading
//
// [Open] and [NewReader] give a [Reader]. [Reader.Fetches] yields what an indexer
// wants, one [page.Fetch] per response, resource and revisit record of an http
// or https URL; [Reader.Next] yields every record.
//
// Crawl archives are damaged in every way there is, and one bad byte must not
// cost the rest of a file. So a Reader
//
//  1. believes magic numbers and not file names: gzip (a member per record,
//     several records per member, a record across members, one member for the
//     whole file), zstd (a frame per record, with the dictionary of the IIPC
//     zstd proposal) and plain text are told apart member by member;
//  2. never stops silently: whatever it skips or doubts becomes a [Problem] with
//     the file, the offset and the reason, and it goes on at the next gzip
//     member, zstd frame or "WARC/" line;
//  3. never loses a record whose header could be read: where the body is cut,
//     corrupt, too large or cannot be decoded, the fetch carries Err and so
//     counts as a failed fetch (semantics.md section 2), which leaves earlier
//     successful fetches in force;
//  4. looks for records inside a block only once the block's length has proved
//     wrong, so that a page about WARC files stays a page;
//  5. holds at most one block ([Options].MaxBody) and one decoded body in memory,
//     whatever lengths a file claims and however well its contents compress, and
//     reads again after damage at most a fixed multiple of what it has read.
//
// From a pipe that stays open a record is returned when it is complete, without a part
// of the next one: a plain record after its line ends, a compressed one after the
// checksum of its member. Of a gzip member with several records, the first is returned
// when more of the member has come, as only that tells that the member does not end
// with it; the others are returned when the writer has flushed them.
//
// An error from Next or Fetches is an error of the underlying file, not of its
// contents.
//
// # Writing
//
// [Writer] writes WARC/1.1, a gzip member per record. Its output depends on its
// input alone: record ids are derived from contents and no clock is read.
package warc
