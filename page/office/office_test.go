package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/tools/txtar"

	"github.com/webindexer/indexer/page/office/officetest"
)

// TestHTML runs testdata: the files of a document in txtar format, and the HTML made of it. The same
// files in UTF-16 make the same HTML.
func TestHTML(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			kind := map[string]Kind{"word": Word, "slides": Slides, "sheet": Sheet, "opendocument": OpenDocument}[d.Cmd]
			files := filesOf([]byte(d.Input + "\n"))
			read := func() string {
				html, err := HTML(kind, officetest.Zip(files...))
				if err != nil {
					return "error: " + err.Error() + "\n"
				}
				return string(html)
			}
			want := read()
			for i := range files {
				files[i].Content = inUTF16(t, files[i].Content, []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian}[i%2])
			}
			if got := read(); got != want {
				d.Fatalf(t, "in UTF-16: %s", got)
			}
			return want
		})
	})
}

// inUTF16 encodes an XML file, with a byte order mark and a declaration.
func inUTF16(t *testing.T, content string, e unicode.Endianness) string {
	t.Helper()
	out, err := unicode.UTF16(e, unicode.UseBOM).NewEncoder().String(`<?xml version="1.0" encoding="UTF-16"?>` + content)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// zipped packs the files of a txtar archive.
func zipped(files []byte) []byte { return officetest.Zip(filesOf(files)...) }

// filesOf lists the files of a txtar archive. The name "@openxml MAIN" means the file that names the
// main part.
func filesOf(files []byte) (list []officetest.File) {
	for _, f := range txtar.Parse(files).Files {
		if main, ok := strings.CutPrefix(f.Name, "@openxml "); ok {
			list = append(list, officetest.OpenXML(main))
		} else {
			list = append(list, officetest.File{Name: f.Name, Content: string(f.Data)})
		}
	}
	return list
}

// wordOf is a document with a body.
func wordOf(body string) []byte {
	return zipped([]byte("-- @openxml word/document.xml --\n-- word/document.xml --\n<document><body>" + body + "</body></document>\n"))
}

// TestBounds: a document that is larger than a bound is cut there, and one that nests too
// deeply is damaged. All are small files.
func TestBounds(t *testing.T) {
	small := bounds{xml: 2 << 20, tokens: 20_000, html: 64 << 10}
	paragraphs := func(n int) string { return strings.Repeat("<p><r><t>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</t></r></p>", n) }
	for _, c := range []struct {
		name string
		body []byte
		want error // nil: HTML with the first word
	}{
		{"much text", wordOf("<p><r><t>first</t></r></p>" + paragraphs(small.html/30)), nil},
		{"much XML", wordOf("<p><r><t>first</t></r></p>" + strings.Repeat("<proofErr a='"+strings.Repeat("x", 1<<10)+"'/>", small.xml>>10)), nil},
		{"many tags", wordOf("<p><r><t>first</t></r></p>" + strings.Repeat("<proofErr/>", small.tokens)), nil},
		{"a long tag", wordOf("<p a='" + strings.Repeat("x", maxToken+8192) + "'/>"), ErrDamaged},
		{"many attributes", wordOf("<p" + strings.Repeat(" a=''", maxToken/4) + "/>"), ErrDamaged},
		{"deep nesting", wordOf(strings.Repeat("<sdt>", maxDepth)), ErrDamaged},
		{"many files", manyFiles(maxEntries + 1), ErrDamaged},
		{"a directory that lies", bytes.Repeat([]byte("PK\x01\x02"), maxEntries+1), ErrDamaged},
		{"no archive", []byte("%PDF-1.7"), ErrDamaged},
		{"nothing", nil, ErrDamaged},
		{"an encrypted document", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1and more"), ErrEncrypted},
		{"an encrypted file", encryptedEntry(t), ErrEncrypted},
	} {
		t.Run(c.name, func(t *testing.T) {
			html, err := small.read(Word, c.body)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if len(html) > 2*small.html {
				t.Errorf("%d bytes of HTML", len(html))
			}
			if c.want == nil && !strings.Contains(string(html), "<p>first</p>") {
				t.Errorf("the beginning is lost: %.200s", html)
			}
		})
	}
}

// TestCut: no prefix of a document, and no document with a damaged byte, does harm.
func TestCut(t *testing.T) {
	whole := wordOf("<p><r><t>one</t></r></p><p><r><t>two</t></r></p>")
	for i := range whole {
		if html, err := HTML(Word, whole[:i]); err == nil && len(html) == 0 {
			t.Errorf("%d bytes: neither HTML nor an error", i)
		}
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x55
		if _, err := HTML(Word, damaged); err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrEncrypted) {
			t.Errorf("byte %d damaged: %v", i, err)
		}
	}
}

// TestSharedStrings: cells may repeat a long text any number of times; the HTML has a bound.
func TestSharedStrings(t *testing.T) {
	files := "-- @openxml xl/workbook.xml --\n" +
		"-- xl/workbook.xml --\n<workbook xmlns:r=\"http://x/relationships\"><sheets><sheet name=\"S\" r:id=\"r1\"/></sheets></workbook>\n" +
		"-- xl/_rels/workbook.xml.rels --\n<Relationships><Relationship Id=\"r1\" Type=\"worksheet\" Target=\"s.xml\"/></Relationships>\n" +
		"-- xl/sharedStrings.xml --\n<sst><si><t>" + strings.Repeat("x", 100_000) + "</t></si></sst>\n" +
		"-- xl/s.xml --\n<worksheet><sheetData><row>" + strings.Repeat(`<c t="s"><v>0</v></c>`, 100_000) + "</row></sheetData></worksheet>\n"
	html, err := HTML(Sheet, zipped([]byte(files)))
	if err != nil || len(html) > usual.html+1000 || len(html) < usual.html {
		t.Errorf("%d bytes of HTML, error %v", len(html), err)
	}
}

// TestRepeated: a document may name a slide any number of times, but its compressed data are read
// once: they may be large and yield nothing, so that no other bound would ever be reached.
func TestRepeated(t *testing.T) {
	random := make([]byte, 8<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random) // never fails
	html, err := HTML(Slides, zipped([]byte("-- @openxml ppt/presentation.xml --\n"+
		"-- ppt/presentation.xml --\n<presentation xmlns:r=\"http://x/relationships\">"+strings.Repeat("<sldId r:id=\"r1\"/>", 1000)+"</presentation>\n"+
		"-- ppt/_rels/presentation.xml.rels --\n<Relationships><Relationship Id=\"r1\" Type=\"slide\" Target=\"s.xml\"/></Relationships>\n"+
		fmt.Sprintf("-- ppt/s.xml --\n<sld><sp><p><t>word</t></p></sp><!-- %x --></sld>\n", random))))
	if n := strings.Count(string(html), "word"); err != nil || n != 1 {
		t.Errorf("the slide was read %d times, want once; error %v", n, err)
	}
}

// TestRepeatedSpace: rows and links may refer any number of times to long texts of which nothing
// stays in the HTML, so that no bound would ever be reached.
func TestRepeatedSpace(t *testing.T) {
	long := strings.Repeat(" ", 100_000)
	a, err := openArchive(officetest.Zip(
		officetest.File{Name: "strings.xml", Content: "<sst><si><t>" + long + "</t></si><si><t> word " + long + "</t></si></sst>"},
		officetest.File{Name: "_rels/a.xml.rels", Content: "<Relationships><Relationship Id='space' TargetMode='External' Target='" + long + "'/>" +
			"<Relationship Id='long' TargetMode='External' Target='" + long + "x" + strings.Repeat("y", maxTarget) + "'/>" +
			"<Relationship Id='file' Target='" + strings.Repeat("z", maxTarget+1) + "'/></Relationships>"},
	), &writer{max: usual.html}, usual)
	if err != nil {
		t.Fatal(err)
	}
	shared := new(sharedStrings)
	if err := a.read("strings.xml", shared); err != nil || !slices.Equal(shared.list, []string{"", "word"}) {
		t.Errorf("shared strings %.50q, error %v", shared.list, err)
	}
	parts, err := a.relationsOf("a.xml")
	if err != nil || !maps.Equal(parts.links, map[string]string{"space": ""}) || len(parts.inside) != 0 {
		t.Errorf("links %.50q, files %.50q, error %v", parts.links, parts.inside, err)
	}
}

func manyFiles(n int) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range n {
		_, _ = w.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)}) // into memory
	}
	_ = w.Close()
	return b.Bytes()
}

func encryptedEntry(t *testing.T) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	content := []byte("secret")
	f, err := w.CreateRaw(&zip.FileHeader{Name: "_rels/.rels", Flags: 1, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content))})
	if err == nil {
		_, err = f.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzHTML reads arbitrary XML as the content of each kind of document, and arbitrary bytes as
// the archive.
func FuzzHTML(f *testing.F) {
	f.Add(`<document xmlns:r="x/relationships"><body><p><pPr><pStyle val="T"/></pPr><hyperlink r:id="r1"><r><t>a</t></r></hyperlink></p></body></document>`)
	f.Add(`<p><r><fldChar fldCharType="begin"/><instrText>HYPERLINK "x"</instrText><fldChar fldCharType="separate"/><t>y</t></r><p><r><t>z</t></r></p>`)
	f.Add(`<workbook xmlns:r="x/relationships"><sheet r:id="r1" name="s"/><si><t>a</t></si><row><c t="s"><v>0</v></c></row></workbook>`)
	f.Add(`<sld xmlns:r="x/relationships"><sldId r:id="r1"/><sp><ph type="title"/><p><r><hlinkClick r:id="r2"/><t>a</t></r></p></sp></sld>`)
	f.Add(`<body><spreadsheet><table name="n"><table-row><p>a</p><p><a href="b">c</a></p></table-row></table></spreadsheet><h outline-level="3">d</h></body>`)
	f.Fuzz(func(t *testing.T, content string) {
		if len(content) > 1<<16 || strings.Contains(content, "\n-- ") {
			return
		}
		const links = `<Relationships><Relationship Id="r1" Type="x" Target="document.xml"/><Relationship Id="r2" TargetMode="External" Target="https://a.example/"/></Relationships>`
		files := "-- @openxml d/document.xml --\n"
		for _, name := range []string{"d/document.xml", "d/styles.xml", "d/sharedStrings.xml", "docProps/core.xml", "content.xml", "meta.xml"} {
			files += "-- " + name + " --\n" + content + "\n"
		}
		body := zipped([]byte(files + "-- d/_rels/document.xml.rels --\n" + links + "\n"))
		for kind := Word; kind <= OpenDocument; kind++ {
			for _, b := range [][]byte{body, []byte(content)} {
				html, err := HTML(kind, b)
				if (err == nil) == (html == nil) {
					t.Fatalf("kind %d: %q, error %v", kind, html, err)
				}
				if !utf8.Valid(html) {
					t.Errorf("kind %d: not UTF-8: %q", kind, html)
				}
				again, _ := HTML(kind, b)
				if !bytes.Equal(html, again) {
					t.Errorf("kind %d: two readings differ", kind)
				}
			}
		}
	})
}

// BenchmarkHTML reads a text of 200,000 words in 25,000 runs, and a file that holds as many
// small tags as are read of any.
func BenchmarkHTML(b *testing.B) {
	for _, c := range []struct {
		name string
		body []byte
	}{
		{"book", wordOf(strings.Repeat("<p><r><rPr><b/></rPr><t>eight words of text that a run may have</t></r></p>", 25_000))},
		{"hostile", wordOf(strings.Repeat("<a/>", usual.tokens))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := HTML(Word, c.body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
