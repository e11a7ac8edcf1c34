package export

import (
	"time"

	"github.com/webindexer/indexer/page"
)

// Document is an index document: a cluster of pages with the same content, identified by
// its canonical URL.
type Document struct {
	URL        page.URL   `json:"url" parquet:"url"`
	Title      string     `json:"title" parquet:"title"`
	Text       string     `json:"text" parquet:"text"`
	Language   string     `json:"language" parquet:"language,dict"` // BCP 47, or ""
	Rank       float64    `json:"rank" parquet:"rank"`
	Members    []page.URL `json:"members" parquet:"members,list"`                         // ascending
	ContentKey string     `json:"content_key" parquet:"content_key"`                      // hexadecimal
	FetchedAt  time.Time  `json:"fetched_at" parquet:"fetched_at,timestamp(microsecond)"` // UTC; Parquet has microseconds
	Inlinks    []Link     `json:"inlinks" parquet:"inlinks,list"`                         // by source, target, anchor
}

// Link is a counting link from a page to a URL, with its anchor text.
type Link struct {
	Source page.URL `json:"source" parquet:"source"`
	Target page.URL `json:"target" parquet:"target"`
	Anchor string   `json:"anchor" parquet:"anchor"`
}

// Capture is a stored fetch.
type Capture struct {
	URL    page.URL
	Time   time.Time
	Status int
	MIME   string   // without parameters; "" if unknown
	Sum    [32]byte // SHA-256 of the body after content decoding
}

// HostRank has the ranks of a host among all hosts.
type HostRank struct {
	Host     string  // reversed: com.example.www
	Harmonic float64 // centrality: the sum of 1/distance over the hosts that reach it
	Place    int     // by rank, from 1
	Rank     float64 // share of its pages in the sum of all ranks
}

// Pair is two documents whose main contents are similar. URL is below Other.
type Pair struct {
	URL        page.URL `json:"url"`
	Other      page.URL `json:"other"`
	Similarity float64  `json:"similarity"` // by their sketches, at most 1
}

// Sink takes the records of one export. Close completes the output. If the format can
// show it, readers recognise output without Close as incomplete.
type Sink[T any] interface {
	Write(record *T) error
	Close() error
}
