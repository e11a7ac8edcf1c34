// Package export writes what an index holds in formats that other programs read:
//
//	JSONL    documents or links, one JSON object a line
//	Parquet  documents or links, compressed with zstd
//	ranks    hosts by rank, in the layout of Common Crawl's ranks files
//	CDXJ     stored fetches, as web archives index theirs
//	CIFF     the inverted index, for retrieval research
//
// It knows records and bytes, not where records come from. Each writer takes its
// records in the order in which they are to stand, writes them to a stream as they
// come, and keeps a bounded part of them in memory. What must be sorted first goes
// through a Sorter, which spills to a file without a name. The same records give the
// same bytes, in every format: nothing depends on the time of the export, on the
// machine, or on the order of a map.
package export
