// Package export writes what an index holds in formats that other programs read:
//
//	JSONL    documents or links, one JSON object per line
//	Parquet  documents or links, compressed with zstd
//	ranks    hosts by rank, in the layout of Common Crawl's ranks files
//	CDXJ     stored fetches, in the index format of web archives
//	CIFF     the inverted index, for retrieval research
//	similar  pairs of documents that say nearly the same, one JSON object per line
//	WACZ     pages with their resources, for replay in a browser
//
// The package knows records and bytes, not where records come from. Each writer takes
// records in their final order, streams them to its output, and keeps a bounded part of
// them in memory; only WACZ keeps a line for each record. Records that must be sorted
// first go through a Sorter, which spills to an unnamed file. The same records give the
// same bytes in every format: nothing depends on the time of the export, the machine, or
// the order of a map.
package export
