package opensearch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/page"
)

// record is a document, a grave, a rank or a fetch time, as the server keeps it.
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

	Host   string   `json:"host,omitempty"`
	Sample []uint16 `json:"sample,omitempty"` // see index.Portable
	URLs   []string `json:"urls,omitempty"`   // urlKey of the members and of the canonical URL

	// What is read of candidates: about, packed; the columns that count in BM25, packed, each
	// with scoredColumn bytes at most; and what shows whether two documents are alike.
	Content []byte `json:"content,omitempty"`
	Columns []byte `json:"columns,omitempty"`
	Sketch  []byte `json:"sketch,omitempty"`

	Stored *stored `json:"stored,omitempty"`
}

// about is what is read of candidates, besides tokens.
type about struct {
	URL          page.URL `json:"url"`
	Title        string   `json:"title,omitempty"`
	Language     string   `json:"language,omitempty"`
	Anchors      string   `json:"anchors"` // JSON
	Headings     string   `json:"headings,omitempty"`
	Translations int64    `json:"translations,omitempty"`
}

// stored is what the server only keeps, to be shown and compared.
type stored struct {
	Members string `json:"members"` // JSON
	Total   int    `json:"members_total"`
	Inlinks int    `json:"inlinks,omitempty"`
	Outline []byte `json:"outline,omitempty"`
	Head    []byte `json:"head"`
	Rest    []byte `json:"rest,omitempty"`
	More    bool   `json:"more,omitempty"` // there is a Rest
}

// scoredColumn is how much of the tokens of a column counts in the score of a candidate, in
// bytes: about 150,000 words, more than nearly any page has. Candidates are scored from a
// copy of their tokens, which is read for each of them. With 64 KiB, manuals of one long
// page lost an eighth of their scores, and eight of twenty queries had other hits.
const scoredColumn = 1 << 20

// columnBreak separates columns in record.Columns. It occurs in no token.
const columnBreak = "\n"

// The ids of records.
func documentID(c page.ContentKey) string { return hex.EncodeToString(c[:]) }
func rankID(cluster string) string        { return "r." + cluster }
func timeID(touch string) string          { return "t." + touch }

// touchKey names a URL of a cluster. A fetch time counts for the URL that was fetched: if
// the cluster is shown under another URL, its time is that of the other URL.
func touchKey(c page.ContentKey, u page.URL) string {
	h := sha256.New()
	h.Write(c[:])
	h.Write([]byte(u)) // a hash never fails
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// urlKey names a URL, of any length.
func urlKey(u page.URL) string {
	h := sha256.Sum256([]byte(u))
	return hex.EncodeToString(h[:16])
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
		return r, c.Validate()
	}
	p, err := index.MakePortable(c)
	if err != nil {
		return r, err
	}
	d, t := c.Doc, &p.Columns
	content, err := json.Marshal(&about{URL: d.URL, Title: d.Title, Language: d.Language, Anchors: p.Anchors, Headings: p.Headings, Translations: p.Translations})
	if err != nil {
		return r, fmt.Errorf("%w: %s: %w", index.ErrInvalid, d.URL, err)
	}
	urls := []string{urlKey(d.URL)}
	for _, u := range d.Members {
		if u != d.URL {
			urls = append(urls, urlKey(u))
		}
	}
	var sum index.Sum
	sum.Add(c.Cluster, d.Digest)
	r = record{
		Kind: kindDocument, Cluster: r.Cluster, Seq: c.Seq, Rank: d.Rank, Fetched: index.PackTime(d.FetchedAt), Touch: touchKey(c.Cluster, d.URL),
		Tokens: int64(t.Tokens()), Stemmer: p.Stemmer, Digest: hex.EncodeToString(d.Digest[:]),
		Sum0: uint16(sum), Sum1: uint16(sum >> 16), Sum2: uint16(sum >> 32), Sum3: uint16(sum >> 48),
		Title: t.Title, Body: t.Body, Anchors: t.Anchors, Outside: t.Outside, URLWords: t.URL, Rest: t.Rest, Tags: strings.Fields(t.Tags),
		Named: strings.Join(p.Words.Named, " "), Words: strings.Join(p.Words.Text, " "),
		Host: p.Host, Sample: p.Sample, URLs: urls,
		Content: index.PackText(string(content)), Columns: packColumns(t), Sketch: p.Sketch,
		Stored: &stored{Members: p.Members, Total: d.MembersTotal, Inlinks: d.Inlinks, Outline: p.Outline, Head: p.Head, Rest: p.Rest, More: len(p.Rest) > 0},
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

// beginning returns the part of a column that is scored, cut at a whole token.
func beginning(column string) string {
	if len(column) <= scoredColumn {
		return column
	}
	return column[:strings.LastIndexByte(column[:scoredColumn], ' ')+1]
}

// readAbout unpacks what is read of candidates.
func (r *record) readAbout() (a *about, err error) {
	text, err := index.UnpackText(r.Content)
	if err == nil {
		err = json.Unmarshal([]byte(text), &a)
	}
	if err != nil || a == nil {
		return nil, fmt.Errorf("%w: the content of document %s on OpenSearch: %v", index.ErrCorrupt, r.Cluster, err)
	}
	return a, nil
}

// readTexts unpacks the columns.
func (r *record) readTexts() (t index.ColumnTexts, err error) {
	packed, err := index.UnpackText(r.Columns)
	if err != nil {
		return t, err
	}
	if columns := strings.Split(packed, columnBreak); len(columns) == len(t) {
		return index.ColumnTexts(columns), nil
	}
	return t, fmt.Errorf("%w: the columns of document %s on OpenSearch", index.ErrCorrupt, r.Cluster)
}

// document returns the document that a record was made of, with the rank and the time of
// the overlay.
func (r *record) document() (d index.Document, err error) {
	if r.Stored == nil {
		return d, fmt.Errorf("%w: document %s on OpenSearch has no content", index.ErrCorrupt, r.Cluster)
	}
	s := r.Stored
	a, err := r.readAbout()
	if err != nil {
		return d, err
	}
	d = index.Document{Seq: r.Seq, URL: a.URL, Title: a.Title, Language: a.Language, FetchedAt: index.UnpackTime(r.Fetched), Rank: r.Rank, MembersTotal: s.Total, Inlinks: s.Inlinks}
	if d.Cluster, err = parseCluster(r.Cluster); err != nil {
		return d, err
	}
	if d.Digest, err = r.digest(); err != nil {
		return d, err
	}
	if d.Members, d.Anchors, err = index.ReadLists(s.Members, a.Anchors); err != nil {
		return d, fmt.Errorf("%s: %w", a.URL, err)
	}
	if d.Outline, err = index.UnpackText(s.Outline); err != nil {
		return d, fmt.Errorf("%s: outline: %w", a.URL, err)
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
