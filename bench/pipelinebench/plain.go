package pipelinebench

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/PuerkitoBio/goquery"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html/charset"
	"golang.org/x/sync/errgroup"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// The plain side is the straightforward way to search recorded pages with the same
// libraries: read the records, parse the pages, insert title and text into a full-text
// table with a stock tokenizer. It shares no code with the program. It knows no
// duplicates, redirects, links or ranks, and it cannot update anything.

// PlainPage is a page as the plain side indexes it.
type PlainPage struct{ url, title, text string }

// NewPlainPage takes title and text from a parsed page. It removes scripts and styles
// from it.
func NewPlainPage(url string, doc *goquery.Selection) PlainPage {
	doc.Find("script, style, noscript").Remove()
	return PlainPage{url, doc.Find("title").First().Text(), doc.Find("body").Text()}
}

// plainBatch is how many pages a transaction inserts.
const plainBatch = 1000

// loadPlain indexes the files and returns the number of responses in them.
func loadPlain(ctx context.Context, dir string, files []string, workers int) (responses int, err error) {
	read, parsed := make(chan *http.Response, 16), make(chan PlainPage, 16)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(read)
		for _, file := range files {
			n, err := readPlain(ctx, file, read)
			responses += n
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		return nil
	})
	parsers := atomic.Int64{}
	parsers.Store(int64(max(workers, 1)))
	for range max(workers, 1) {
		g.Go(func() error {
			defer func() {
				if parsers.Add(-1) == 0 {
					close(parsed)
				}
			}()
			return parsePlain(ctx, read, parsed)
		})
	}
	g.Go(func() error { return IndexPlain(ctx, dir, parsed) })
	return responses, g.Wait()
}

// targetHeader carries the URL of a record to the parsers.
const targetHeader = "WARC-Target-URI"

// readPlain sends the responses of a file.
func readPlain(ctx context.Context, file string, read chan<- *http.Response) (responses int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var in io.Reader = bufio.NewReaderSize(f, 1<<20)
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			return 0, err
		}
	}
	for r := bufio.NewReaderSize(in, 1<<20); ; {
		header, block, err := readRecord(r)
		if err == io.EOF {
			return responses, nil
		}
		if err != nil {
			return responses, err
		}
		if header.Get("WARC-Type") != "response" {
			continue
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
		if err != nil {
			return responses, err
		}
		responses++
		resp.Header.Set(targetHeader, header.Get(targetHeader))
		select {
		case read <- resp:
		case <-ctx.Done():
			return responses, context.Cause(ctx)
		}
	}
}

// readRecord reads a WARC record; its error is io.EOF if there is none.
func readRecord(r *bufio.Reader) (header textproto.MIMEHeader, block []byte, err error) {
	for version := ""; version == ""; { // empty lines end the record before
		if _, err := r.Peek(1); err != nil {
			return nil, nil, err
		}
		if version, err = textproto.NewReader(r).ReadLine(); err != nil {
			return nil, nil, err
		}
	}
	if header, err = textproto.NewReader(r).ReadMIMEHeader(); err != nil {
		return nil, nil, fmt.Errorf("the header of a record: %w", err)
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, nil, err
	}
	block = make([]byte, length)
	if _, err = io.ReadFull(r, block); err != nil {
		return nil, nil, fmt.Errorf("a record of %d bytes: %w", length, err)
	}
	return header, block, nil
}

// parsePlain parses the pages among responses.
func parsePlain(ctx context.Context, read <-chan *http.Response, parsed chan<- PlainPage) error {
	for resp := range read {
		contentType := resp.Header.Get("Content-Type")
		if resp.StatusCode != http.StatusOK || !strings.HasPrefix(contentType, "text/html") {
			continue
		}
		body := io.Reader(resp.Body)
		if resp.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(body)
			if err != nil {
				return err
			}
			body = z
		}
		decoded, err := charset.NewReader(body, contentType)
		if err != nil {
			continue // an empty body
		}
		doc, err := goquery.NewDocumentFromReader(decoded)
		if err != nil {
			return err
		}
		select {
		case parsed <- NewPlainPage(resp.Header.Get(targetHeader), doc.Selection):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// IndexPlain inserts pages into a new table in dir, in large transactions, until the
// channel is closed.
func IndexPlain(ctx context.Context, dir string, parsed <-chan PlainPage) (err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "plain.sqlite")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, body, tokenize='porter unicode61')`); err != nil {
		return err
	}
	for {
		more, err := insertBatch(ctx, db, parsed)
		if err != nil || !more {
			return err
		}
	}
}

func insertBatch(ctx context.Context, db *sql.DB, parsed <-chan PlainPage) (more bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO pages(url, title, body) VALUES(?,?,?)")
	if err != nil {
		return false, err
	}
	for range plainBatch {
		p, ok := <-parsed
		if !ok {
			return false, tx.Commit()
		}
		if _, err := insert.ExecContext(ctx, p.url, p.title, p.text); err != nil {
			return false, err
		}
	}
	return true, tx.Commit()
}
