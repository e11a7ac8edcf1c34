package warc

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

var (
	one   = record("1", html("one"))
	two   = record("2", html("two"))
	three = record("3", html("three"))
)

func flip(s string, at int) string {
	b := []byte(s)
	b[at] ^= 0xff
	return string(b)
}

// TestDamage reads files with something wrong, or odd, in the middle. Whatever it
// is, what comes before and after it is read.
func TestDamage(t *testing.T) {
	quoted := "About WARC:\r\n\r\n" + strings.ReplaceAll(three, "/3", "/quoted")
	lf := strings.ReplaceAll(two, "\r\n", "\n")
	lf = strings.Replace(lf, "Content-Length: 50", "Content-Length: 47", 1)
	long := html(strings.Repeat("long ", 300))
	incompressible := damagedFile{random: rand.New(rand.NewPCG(1, 0))}
	noise := zst(t, nil, record("2", html(incompressible.noise(4<<10))))
	tests := []struct{ name, file, want string }{
		{"good", one + two + three, "1 2 3 problems=0"},
		{"good, member per record", gz(one, two, three), "1 2 3 problems=0"},
		{"records share a member", gz(one+two, three), "1 2 3 problems=0"},
		{"one member for all", gz(one + two + three), "1 2 3 problems=0"},
		{"record across members", gz(one, two[:200], two[200:], three), "1 2 3 problems=0"},
		{"empty members", gz("", one, "", "", two, three, ""), "1 2 3 problems=0"},
		{"LF only", one + lf + three, "1 2 3 problems=0"},
		{"lower case", one + strings.Replace(strings.ToLower(two), "http/", "HTTP/", 1) + three, "1 2 3 problems=0"},
		{"a page about WARC", one + record("2", html(quoted)) + three, "1 2 3 problems=0"},
		{"a page about WARC, compressed", gz(one, record("2", html(quoted)), three), "1 2 3 problems=0"},
		{"junk between", one + "some\njunk\n" + two, "1 2 problems=1"},
		{"junk between members", gz(one) + "some junk" + gz(two), "1 2 problems=1"},
		{"junk at the end", gz(one, two) + "some junk", "1 2 problems=1"},
		{"zeros at the end", gz(one, two) + strings.Repeat("\x00", 1000), "1 2 problems=0"},
		{"gzip after plain after gzip", gz(one) + two + gz(three), "1 2 3 problems=1"},
		{"gzip after plain", one + two + gz(three), "1 2 3 problems=1"},
		{"much gzip after plain", one + gz(strings.Repeat(two, 3000)) + gz(three), "1 " + strings.Repeat("2 ", 3000) + "3 problems=1"},
		{"zstd after plain", one + two + zst(t, nil, three), "1 2 3 problems=1"},
		{"gzip after plain, plain, gzip, junk", one + gz(two) + three + gz(one) + "junk" + gz(two), "1 2 3 1 2 problems=2"},
		{"corrupt gzip after plain", one + flip(gz(two), 60) + gz(three), "1 3 problems=2"},
		{"a page that is gzip", one + record("2", gz(three)) + three, "1 [2] 3 problems=1"},
		{"junk that looks like gzip after plain", one + "\x1f\x8b\x08\x00 junk\n" + two, "1 2 problems=2"},
		{"corrupt data", gz(one) + flip(gz(two), 60) + gz(three), "1 3 problems=1"},
		{"corrupt zstd frame of a block that was not compressed", zst(t, nil, one) + flip(noise, len(noise)-1) + zst(t, nil, three), "1 [2] 3 problems=3"},
		{"much junk before gzip", strings.Repeat("junk ", 50_000) + gz(one, two), "1 2 problems=1"},
		{"a ZIP file that begins with other files", "PK\x03\x04" + strings.Repeat("page ", 50_000) + gz(one, two) + "PK\x01\x02", "1 2 problems=0"},
		{"wrong checksum", gz(one) + flip(gz(two), len(gz(two))-6) + gz(three), "1 [2] 3 problems=2"},
		{"wrong magic", gz(one) + flip(gz(two), 0) + gz(three), "1 3 problems=1"},
		{"cut header", one + two[:100], "1 problems=1"},
		{"cut block", one + two[:len(two)-10], "1 [2] problems=1"},
		{"cut header, continued", one + two[:100] + three, "1 3 problems=1"},
		{"header cut at the end of a line, continued", one + two[:strings.Index(two, "Content-Length")] + three, "1 3 problems=1"},
		{"two cut headers, continued", one + two[:100] + two[:70] + three, "1 3 problems=1"},
		{"version cut, continued with a large record", "WAR" + record("1", html(strings.Repeat("long ", 50_000))) + two, "[1] 2 problems=2"}, // over the limit of this test
		{"version cut, continued", one + two[:3] + three, "1 3 problems=1"},
		{"cut block, continued", one + two[:len(two)-7] + three, "1 [2] 3 problems=1"},
		{"a URI that ends like a version line", one + strings.Replace(two, "/2", "/warc/1.0", 1) + three, "1 warc/1.0 3 problems=0"},
		{"too long, up to empty lines", one + recordWith("2", int64(len(html("two")+"\r\n\r\n"+three)-len("\r\n\r\n"+html("three")+"\r\n\r\n")), html("two"), "") + three, "1 [2] 3 problems=1"},
		{"cut member", gz(one) + gz(two)[:120], "1 problems=2"},
		{"no end lines", one + strings.TrimRight(two, "\r\n") + three, "1 2 3 problems=1"},
		{"too short", one + recordWith("2", 47, html("two"), "") + three, "1 [2] 3 problems=1"},
		{"too long", one + recordWith("2", 100, html("two"), "") + three, "1 [2] 3 problems=1"},
		{"too long, member per record", gz(one, recordWith("2", 100, html("two"), ""), three), "1 [2] 3 problems=1"},
		{"too long by far", one + recordWith("2", 1<<50, html("two"), "") + three, "1 [2] 3 problems=1"},
		{"too long by far, one member", gz(one + recordWith("2", 1<<20, html("two"), "") + three), "1 [2] 3 problems=1"},
		{"too long for the limit, member per record", gz(one, recordWith("2", 1<<40, html("two"), ""), three), "1 [2] 3 problems=2"},
		{"over the limit", gz(one, record("2", long), three), "1 [2] 3 problems=1"},
		{"no date", one + strings.Replace(two, "2024", "year", 1) + three, "1 3 problems=1"},
		{"a date of 14 digits", one + strings.Replace(two, "2024-01-01T00:00:00Z", "20240101000000", 1) + three, "1 2 3 problems=0"},
		{"no length, twice", one + without(two, "Content-Length") + without(three, "Content-Length") + one, "1 [2] [3] 1 problems=2"},
		{"no length, twice, member per record", gz(one, without(two, "Content-Length"), without(three, "Content-Length"), one), "1 [2] [3] 1 problems=2"},
		{"no id after damage", one + recordWith("2", 47, html("two"), "") + without(three, "WARC-Record-ID"), "1 [2] 3 problems=1"},
		{"neither id nor date after damage", one + recordWith("2", 47, html("two"), "") + without(without(two, "WARC-Date"), "WARC-Record-ID") + three, "1 [2] 3 problems=1"},
		{"segment", one + recordWith("2", 50, html("two"), "WARC-Segment-Number: 1\r\n") + three, "1 [2] 3 problems=1"},
		{"wrong digest", one + recordWith("2", 50, html("two"), "WARC-Block-Digest: sha1:"+strings.Repeat("A", 32)+"\r\n") + three, "1 2 3 problems=1"},
		{"digest of nothing, as wget gives to revisits", one + asRevisit(recordWith("2", 50, html("two"), "WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n")) + three, "1 2(revisit) 3 problems=0"},
		{"digest of nothing", one + recordWith("2", 50, html("two"), "WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n") + three, "1 2 3 problems=1"},
		{"ARC", "filedesc://x.arc 0.0.0.0 20240101000000 text/plain 3\nabc\n", "problems=1"},
		{"byte order mark", "\ufeff" + one + two, "1 2 problems=0"},
		{"byte order mark, files joined", one + "\ufeff" + two, "1 2 problems=0"},
		{"not a WARC file", "<!doctype html>\n<p>hello\n", "problems=1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, r := read(t, test.file, Options{MaxBody: 1 << 10})
			if got != test.want {
				t.Errorf("got  %s\nwant %s\n%v", got, test.want, r.Problems())
			}
			if s := r.Stats(); s.Bytes != int64(len(test.file)) {
				t.Errorf("stopped at byte %d of %d", s.Bytes, len(test.file))
			}
			for _, p := range r.Problems() {
				if p.File != "test" || p.Offset < 0 || p.Offset > int64(len(test.file)) || p.Reason == "" {
					t.Errorf("problem is not well formed: %+v", p)
				}
			}
		})
	}
}

// without removes a field of a record.
func without(record, field string) string {
	before, rest, _ := strings.Cut(record, field+":")
	_, after, _ := strings.Cut(rest, "\r\n")
	return before + after
}

func asRevisit(record string) string { return strings.Replace(record, "response", "revisit", 1) }

// TestOtherFormats: the problem of a file of another kind says what it is, and what to do.
func TestOtherFormats(t *testing.T) {
	for file, want := range map[string]string{
		"filedesc://x.arc 0.0.0.0 20240101000000 text/plain 3\nabc\n": "convert it to WARC",
		"PK\x03\x04 no WARC file in it":                               "unpack it",
		"PK\x03\x04" + strings.Repeat("no WARC file in it ", 10_000):  "unpack it",
		"<!doctype html>": "where a record should begin",
	} {
		_, r := read(t, file, Options{})
		if list := r.Problems(); len(list) != 1 || !strings.Contains(list[0].Reason, want) {
			t.Errorf("%q: %v, want one with %q", file, list, want)
		}
	}
}

// TestProblemPlaces checks one problem of each kind of file to the byte.
func TestProblemPlaces(t *testing.T) {
	bad := strings.Replace(two, "2024", "year", 1)
	_, r := read(t, one+bad, Options{})
	if got, want := r.Problems()[0].String(), `test:257: response http://a.example/2: bad WARC-Date "year-01-01T00:00:00Z": skipped`; got != want || len(one) != 257 {
		t.Errorf("got  %s\nwant %s (%d)", got, want, len(one))
	}
	_, r = read(t, gz(one, bad), Options{})
	if p := r.Problems()[0]; p.Offset != int64(len(gz(one))) || p.Inner != int64(len(one)) {
		t.Errorf("got %+v, want offsets %d and %d", p, len(gz(one)), len(one))
	}
}

// TestNoSeek reads damaged files from a reader that cannot go back.
func TestNoSeek(t *testing.T) {
	file := gz(one) + flip(gz(two), 60) + "junk" + gz(three)
	got, r := drain(t, NewReader(onlyReader{strings.NewReader(file)}, "test", Options{}))
	if got != "1 3 problems=1" {
		t.Errorf("%s %v", got, r.Problems())
	}
	file = zst(t, nil, one) + zstdMagic + "\xff" + zst(t, nil, two)
	if got, r = drain(t, NewReader(onlyReader{strings.NewReader(file)}, "test", Options{})); got != "1 2 problems=1" {
		t.Errorf("%s %v", got, r.Problems())
	}
	file = one + two + gz(three, one) + two
	if got, r = drain(t, NewReader(onlyReader{strings.NewReader(file)}, "test", Options{})); got != "1 2 3 1 2 problems=1" {
		t.Errorf("%s %v", got, r.Problems())
	}
}

// TestSourceError fails the source at every byte: that is an error of Next, and
// stays one; it is never mistaken for the end or for damage.
func TestSourceError(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, file := range []string{one + two, gz(one, two), gz(one) + "junk" + gz(two)} {
		for n := range file {
			src := io.MultiReader(strings.NewReader(file[:n]), iotest.ErrReader(broken))
			r := NewReader(src, "test", Options{})
			var err error
			for err == nil {
				_, err = r.Next()
			}
			if _, again := r.Next(); !errors.Is(err, broken) || !errors.Is(again, broken) {
				t.Fatalf("source fails at byte %d: %v, then %v", n, err, again)
			}
		}
	}
}

// TestEveryCut cuts files at every byte: good records before the cut are read,
// and a cut anywhere but between records is reported.
func TestEveryCut(t *testing.T) {
	for _, file := range []string{one + two, gz(one, two), gz(one + two)} {
		for n := range len(file) {
			got, r := read(t, file[:n], Options{})
			if n >= len(file)/2+100 && !strings.HasPrefix(got, "1") && file != gz(one+two) {
				t.Errorf("cut at %d of %d: %s", n, len(file), got)
			}
			atEnd := n == 0 || n == len(one) || n == len(gz(one)) && file == gz(one, two) || strings.TrimRight(file[n:], "\r\n") == ""
			if r.Stats().Problems == 0 && !atEnd && !(n < 8 && file[:1] == "W") {
				t.Errorf("cut at %d of %d is not reported: %s", n, len(file), got)
			}
		}
	}
}

// TestEveryFlip turns every byte of a compressed file over: records of the members
// that are whole are still read.
func TestEveryFlip(t *testing.T) {
	file := gz(one, two, three)
	first, second := len(gz(one)), len(gz(one, two))
	for i := range file {
		got, _ := read(t, flip(file, i), Options{})
		fields := " " + got + " "
		for k, whole := range []bool{i >= first, i < first || i >= second, i < second} {
			if whole && !strings.Contains(fields, " "+string(rune('1'+k))+" ") {
				t.Errorf("byte %d: %s", i, got)
			}
		}
	}
}

// TestTimeIsBounded reads files that were made to be read again and again: blocks
// that each claim nearly the limit, headers that do not end, headers that end all
// at the same place, members of one byte. With quadratic time it would not end
// before the test's time is over.
func TestTimeIsBounded(t *testing.T) {
	long := recordWith("1", 8<<20, html("x"), "")
	versions := strings.Repeat("WARC/1.0\n", 200_000) + "\n"
	var bytes1 strings.Builder
	bytes1.WriteString(gz(recordWith("1", 1<<40, "", "")))
	bytes1.WriteString(strings.Repeat(gz("x"), 200_000))
	for name, file := range map[string]string{
		"long blocks":         gz(strings.Repeat(long, 48<<20/len(long))),
		"long blocks, plain":  strings.Repeat(long, 48<<20/len(long)),
		"no end of header":    strings.Repeat("WARC/1.0\n", 1<<20),
		"same end of headers": strings.Repeat(versions, 4),
		"members of one byte": bytes1.String(),
		"versions in lines":   one + strings.Repeat(strings.ReplaceAll(versions, "WARC", "x WARC"), 4),
		"versions in headers": strings.Repeat("WARC/1.0\nWARC-Type: x\n"+strings.Repeat("x: WARC/1.0\n", 150_000)+"\n", 4),
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(strings.NewReader(file), "test", Options{})
			defer r.Close()
			for _, err := range r.Fetches() {
				if err != nil {
					t.Fatal(err)
				}
			}
			if s := r.Stats(); s.Problems == 0 || s.Bytes != int64(len(file)) {
				t.Errorf("%d problems, byte %d of %d", s.Problems, s.Bytes, len(file))
			}
		})
	}
}
