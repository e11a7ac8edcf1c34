package warc

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSuites reads the sample files of other projects. What is wanted is the
// records by type, the fetches and failed ones, and the number of problems; it was
// taken from what their makers say about them (NOTE.md of the suites: records that
// warcio and others recover) and looked through where they say nothing.
func TestSuites(t *testing.T) {
	needShared(t, suites)
	for _, test := range []struct{ file, want string }{
		{"warcio/example.warc", "request=2 response=1 revisit=1 warcinfo=2 fetches=2"},
		{"warcio/example.warc.gz", "request=2 response=1 revisit=1 warcinfo=2 fetches=2"},
		{"warcio/example-bad-non-chunked.warc.gz", "request=2 response=1 revisit=1 warcinfo=2 fetches=2 problems=1"}, // wrong digest
		{"warcio/example-bad.warc.gz.bad", "request=2 response=2 revisit=1 warcinfo=1 fetches=3"},
		{"warcio/example-digest.warc", "request=4"},
		{"warcio/example-iana.org-chunked.warc", "request=1 response=1 warcinfo=1 fetches=1"},
		{"warcio/example-resource.warc.gz", "resource=1 warcinfo=2 fetches=1"},
		{"warcio/example-space-in-target-uri.warc.gz", "resource=1 warcinfo=1 other=1"}, // file:
		{"warcio/example-trunc.warc", "request=1 response=1 warcinfo=2 fetches=1 failed=1 problems=1"},
		{"warcio/example-wget-bad-target-uri.warc.gz", "metadata=1 request=1 resource=2 response=1 warcinfo=1 fetches=1 other=2"},
		{"warcio/example-wrong-chunks.warc.gz", "request=1 response=1 fetches=1 problems=1"}, // wrong digest
		{"warcio/post-test.warc.gz", "request=3 response=3 fetches=3"},
		{"warcio/example.arc.gz", "problems=1"},
		{"warcio/bad.arc", "problems=1"},
		{"jwarc/cc.warc.gz", "response=1 fetches=1"},
		{"jwarc/gzip_extra_sl.warc.gz", "warcinfo=1"},
		{"jhove/IAH-20080430204825-00000-blackbook.single-member.warc.gz", "metadata=261 request=261 response=299 warcinfo=1 fetches=261 other=38"},
		{"jhove/hello-world.warc", "metadata=1 request=1 resource=2 response=1 warcinfo=1 fetches=1 other=2"},
		{"ia-gowarc/corrupted-mid-record.warc.gz.open", "response=12 fetches=12 problems=1"},
		{"ia-gowarc/corrupted-trailing-bytes.warc.gz.open", "response=30 fetches=30 problems=1"},
		{"ia-gowarc/empty.warc.gz.open", ""},
		{"ia-gowarc/good.warc.gz.open", "response=50 fetches=50"},
		{"ia-gowarc/single-record.warc.gz.open", "response=1 fetches=1"},
		{"ia-gowarc/skip-non-open.warc.gz", "response=10 fetches=10"},
		{"ia-gowarc/test.warc.gz", "request=1 response=1 warcinfo=1 fetches=1"},
		{"iipc-specs/20130729-heritrix-original.warc.gz", "response=1 fetches=1"},
		{"iipc-specs/20130729-heritrix-revisit-with-http-headers.warc.gz", "revisit=1 fetches=1"},
		{"iipc-specs/20141124-heritrix-server-not-modified.warc.gz", "revisit=1 fetches=1 problems=1"}, // one line end
		{"iipc-specs/20141129-heritrix-original.warc.gz", "response=1 fetches=1"},
		{"iipc-specs/20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz", "revisit=1 fetches=1"},
		{"iipc-specs/hello-world.warc.gz", "metadata=1 request=1 resource=2 response=1 warcinfo=1 fetches=1 other=2"},
	} {
		t.Run(test.file, func(t *testing.T) {
			fetches, r := readAll(t, filepath.Join(suites, test.file), Options{})
			if got := summary(r.Stats()); got != test.want {
				t.Errorf("got  %s\nwant %s\n%v", got, test.want, r.Problems())
			}
			for _, f := range fetches {
				if strings.ContainsAny(string(f.URL), "<>") || f.Time.IsZero() {
					t.Errorf("%s at %s", f.URL, f.Time)
				}
			}
		})
	}
}

func summary(s Stats) string {
	var words []string
	for _, typ := range slices.Sorted(maps.Keys(s.Records)) {
		words = append(words, fmt.Sprintf("%s=%d", typ, s.Records[typ]))
	}
	for _, count := range []struct {
		name string
		n    int
	}{{"fetches", s.Fetches}, {"failed", s.Failed}, {"other", s.OtherSchemes}, {"problems", s.Problems}} {
		if count.n > 0 {
			words = append(words, fmt.Sprintf("%s=%d", count.name, count.n))
		}
	}
	return strings.Join(words, " ")
}

// TestJHOVE reads the corpus of the JHOVE WARC module: nothing of its valid files is
// doubted but segments, which are not supported; an invalid file never stops the
// reading before its end. What makes most of them invalid (missing recommended
// fields, fields out of place) does not keep them from being read.
func TestJHOVE(t *testing.T) {
	needShared(t, suites)
	for _, dir := range []string{"valid", "invalid"} {
		files, err := filepath.Glob(filepath.Join(suites, "jhove", dir, "*.warc"))
		if err != nil || len(files) == 0 {
			t.Skipf("no files: %v", err)
		}
		for _, file := range files {
			_, r := readAll(t, file, Options{})
			s := r.Stats()
			if s.Bytes != s.Size {
				t.Errorf("%s: stopped at byte %d of %d", file, s.Bytes, s.Size)
			}
			if dir == "valid" && s.Problems != s.Records["continuation"] {
				t.Errorf("%s: %v", file, r.Problems())
			}
			// Only blank lines are neither records nor a problem.
			if len(s.Records) == 0 && s.Problems == 0 && s.Size > 4 {
				t.Errorf("%s: nothing is read of %d bytes and nothing said", file, s.Size)
			}
		}
	}
}
