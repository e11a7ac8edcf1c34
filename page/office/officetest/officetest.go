// Package officetest makes office documents for tests, from parts or from a text.
package officetest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// WordType is the media type of the documents that Word makes.
const WordType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

// File is a file of a document.
type File struct{ Name, Content string }

// OpenXML is the file that every document of ISO/IEC 29500 has; it names the main part.
func OpenXML(main string) File {
	const types = "http://schemas.openxmlformats.org/"
	return File{"_rels/.rels", fmt.Sprintf(`<Relationships xmlns="%spackage/2006/relationships">
<Relationship Id="rId1" Type="%sofficeDocument/2006/relationships/officeDocument" Target="%s"/>
<Relationship Id="rId2" Type="%spackage/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/>
</Relationships>`, types, types, main, types)}
}

// Zip packs files into an archive, whose bytes depend on nothing else.
func Zip(files ...File) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		// Nothing fails that is written to memory.
		if to, err := w.Create(f.Name); err == nil {
			_, _ = io.WriteString(to, f.Content)
		}
	}
	_ = w.Close()
	return b.Bytes()
}

// Word makes a text document with a title, a paragraph, and a link where link is not "".
func Word(title, text, link string) []byte {
	paragraph := "<w:p><w:r><w:t>" + escape(text) + "</w:t></w:r></w:p>"
	links := ""
	if link != "" {
		paragraph += `<w:p><w:hyperlink r:id="rId9"><w:r><w:t>a link</w:t></w:r></w:hyperlink></w:p>`
		links = `<Relationship Id="rId9" Type="hyperlink" TargetMode="External" Target="` + escape(link) + `"/>`
	}
	return Zip(
		OpenXML("word/document.xml"),
		File{"docProps/core.xml", "<coreProperties><title>" + escape(title) + "</title></coreProperties>"},
		File{"word/_rels/document.xml.rels", "<Relationships>" + links + "</Relationships>"},
		File{"word/document.xml", `<w:document xmlns:w="w" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><w:body>` + paragraph + "</w:body></w:document>"},
	)
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
