package opensearch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/page"
)

// record is what the server keeps of a document, a grave, a rank or a fetch time.
type record struct {
	Kind    string  `json:"kind"`
	Cluster string  `json:"cluster,omitempty"`
	Seq     uint64  `json:"seq,omitempty"`
	Rank    float64 `json:"rank,omitempty"`
	Fetched int64   `json:"fetched,omitempty"` // nanoseconds since 1970; 0: unknown
	Touch   string  `json:"touch,omitempty"`   // touchKey of cluster and URL

	Tokens  int64  `json:"tokens,omitempty"` // in all columns
	Stemmer string `json:"stemmer,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Sum0    uint16 `json:"sum0,omitempty"`
	Sum1    uint16 `json:"sum1,omitempty"`
	Sum2    uint16 `json:"sum2,omitempty"`
	Sum3    uint16 `json:"sum3,omitempty"`

	// Only indexed; see mapping.
	Title    string   `json:"title,omitempty"`
	Body     string   `json:"body,omitempty"`
	Anchors  string   `json:"anchors,omitempty"`
	Outside  string   `json:"outside,omitempty"`
	URLWords string   `json:"url,omitempty"`
	Rest     string   `json:"rest,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Named    string   `json:"named,omitempty"`
	Words    string   `json:"words,omitempty"`

	Stored *stored `json:"stored,omitempty"`
}

// stored is what is only kept.
type stored struct {
	URL      page.URL `json:"url"`
	Title    string   `json:"title,omitempty"`
	Language string   `json:"language,omitempty"`
	Members  string   `json:"members"` // JSON
	Total    int      `json:"members_total"`
	Anchors  string   `json:"anchors"` // JSON
	Inlinks  int      `json:"inlinks,omitempty"`
	Outline  []byte   `json:"outline,omitempty"`
	Head     []byte   `json:"head"`
	Rest     []byte   `json:"rest,omitempty"`
	More     bool     `json:"more,omitempty"` // there is a Rest
	// Columns are the columns that count in BM25, packed, to score
	// candidates. Each has scoredColumn bytes at most.
	Columns []byte `json:"columns"`
	// Sketch and Translations tell whether two documents are alike.
	Sketch       []byte `json:"sketch,omitempty"`
	Translations int64  `json:"translations,omitempty"`
}

// scoredColumn is how much of the tokens of a column counts in the score of a candidate, in
// bytes: about 150,000 words, more than nearly any page has. Candidates are scored from a
// copy of their tokens, which is read for each of them. With 64 KiB, manuals of one long
// page lost an eighth of their scores, and eight of twenty queries had other hits.
const scoredColumn = 1 << 20

// columnBreak separates columns in stored.Columns. It occurs in no token.
const columnBreak = "\n"

// The ids of records.
func documentID(c page.ContentKey) string { return hex.EncodeToString(c[:]) }
func rankID(cluster string) string        { return "r." + cluster }
func timeID(touch string) string          { return "t." + touch }

// touchKey names a URL of a cluster. A fetch time counts for the URL that was fetched: if
// the cluster is shown under another one, its time is that of the other.
func touchKey(c page.ContentKey, u page.URL) string {
	h := sha256.New()
	h.Write(c[:])
	h.Write([]byte(u)) // a hash never fails
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func parseCluster(text string) (c page.ContentKey, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(c) {
		return c, fmt.Errorf("%w: the cluster of a document on OpenSearch is %q", index.ErrCorrupt, text)
	}
	return page.ContentKey(b), nil
}

// recordOf makes the record of a change of a document.
func recordOf(c *index.Change) (record, error) {
	r := record{Kind: kindGrave, Cluster: documentID(c.Cluster), Seq: c.Seq}
	if c.Doc == nil {
		return r, index.ValidChange(c)
	}
	p, err := index.MakePortable(c)
	if err != nil {
		return r, err
	}
	d, t := c.Doc, &p.Columns
	var sum index.Sum
	sum.Add(c.Cluster, d.Digest)
	r = record{
		Kind: kindDocument, Cluster: r.Cluster, Seq: c.Seq, Rank: d.Rank, Fetched: index.PackTime(d.FetchedAt), Touch: touchKey(c.Cluster, d.URL),
		Tokens: int64(t.Tokens()), Stemmer: p.Stemmer, Digest: hex.EncodeToString(d.Digest[:]),
		Sum0: uint16(sum), Sum1: uint16(sum >> 16), Sum2: uint16(sum >> 32), Sum3: uint16(sum >> 48),
		Title: t.Title, Body: t.Body, Anchors: t.Anchors, Outside: t.Outside, URLWords: t.URL, Rest: t.Rest, Tags: strings.Fields(t.Tags),
		Named: strings.Join(p.Words.Named, " "), Words: strings.Join(p.Words.Text, " "),
		Stored: &stored{
			URL: d.URL, Title: d.Title, Language: d.Language, Members: p.Members, Total: d.MembersTotal, Anchors: p.Anchors, Inlinks: d.Inlinks,
			Outline: p.Outline, Head: p.Head, Rest: p.Rest, More: len(p.Rest) > 0, Sketch: p.Sketch, Translations: p.Translations,
			Columns: packColumns(t),
		},
	}
	return r, nil
}

func packColumns(c *analysis.Columns) []byte {
	texts := index.TextsOf(c)
	for i := range texts {
		texts[i] = beginning(texts[i])
	}
	return index.PackText(strings.Join(texts[:], columnBreak))
}

// beginning is the part of a column that is scored, in whole tokens.
func beginning(column string) string {
	if len(column) <= scoredColumn {
		return column
	}
	return column[:strings.LastIndexByte(column[:scoredColumn], ' ')+1]
}

// texts unpacks the columns.
func (s *stored) texts() (t index.ColumnTexts, err error) {
	packed, err := index.UnpackText(s.Columns)
	if err != nil {
		return t, err
	}
	if columns := strings.Split(packed, columnBreak); len(columns) == len(t) {
		return index.ColumnTexts(columns), nil
	}
	return t, fmt.Errorf("%w: the columns of %s on OpenSearch", index.ErrCorrupt, s.URL)
}

// document is the document that a record was made of, with the rank and the time of the
// overlay.
func (r *record) document() (d index.Document, err error) {
	if r.Stored == nil {
		return d, fmt.Errorf("%w: document %s on OpenSearch has no content", index.ErrCorrupt, r.Cluster)
	}
	s := r.Stored
	d = index.Document{Seq: r.Seq, URL: s.URL, Title: s.Title, Language: s.Language, FetchedAt: index.UnpackTime(r.Fetched), Rank: r.Rank, MembersTotal: s.Total, Inlinks: s.Inlinks}
	if d.Cluster, err = parseCluster(r.Cluster); err != nil {
		return d, err
	}
	if d.Digest, err = r.digest(); err != nil {
		return d, err
	}
	if d.Members, d.Anchors, err = index.ReadLists(s.Members, s.Anchors); err != nil {
		return d, fmt.Errorf("%s: %w", s.URL, err)
	}
	if d.Outline, err = index.UnpackText(s.Outline); err != nil {
		return d, fmt.Errorf("%s: outline: %w", s.URL, err)
	}
	d.Text, err = index.UnpackText(s.Head, s.Rest)
	return d, err
}

func (r *record) digest() (d [8]byte, err error) {
	b, err := hex.DecodeString(r.Digest)
	if err != nil || len(b) != len(d) {
		return d, fmt.Errorf("%w: the digest of document %s on OpenSearch is %q", index.ErrCorrupt, r.Cluster, r.Digest)
	}
	return [8]byte(b), nil
}

// isTag reports whether a token is a tag; those begin with a character that no text has.
func isTag(token string) bool {
	kinds := []rune{analysis.TagSite, analysis.TagLang, analysis.TagFileType}
	for _, kind := range kinds {
		if strings.HasPrefix(token, analysis.Tag(kind, "")) {
			return true
		}
	}
	return false
}
