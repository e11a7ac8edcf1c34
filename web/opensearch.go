package web

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
)

// openSearchDescription is the document that browsers read to add a search engine (OpenSearch 1.1).
type openSearchDescription struct {
	XMLName     xml.Name        `xml:"http://a9.com/-/spec/opensearch/1.1/ OpenSearchDescription"`
	ShortName   string          `xml:"ShortName"`
	Description string          `xml:"Description"`
	Encoding    string          `xml:"InputEncoding"`
	Image       openSearchImage `xml:"Image"`
	URLs        []openSearchURL `xml:"Url"`
}

type openSearchImage struct {
	Width  int    `xml:"width,attr"`
	Height int    `xml:"height,attr"`
	Type   string `xml:"type,attr"`
	URL    string `xml:",chardata"`
}

type openSearchURL struct {
	Type     string `xml:"type,attr"`
	Relation string `xml:"rel,attr,omitempty"`
	Method   string `xml:"method,attr"`
	Template string `xml:"template,attr"`
}

func (s *Server) openSearch(w http.ResponseWriter, r *http.Request) error {
	scheme := "http"
	if r.Header.Get("X-Forwarded-Proto") == "https" { // from a proxy; anyone else deceives only themselves
		scheme = "https"
	}
	base := scheme + "://" + r.Host // checkHost has refused names that are not ours, unless AnyHost is set
	d := openSearchDescription{
		ShortName: "indexer", Description: "Search this index", Encoding: "UTF-8",
		Image: openSearchImage{32, 32, "image/svg+xml", base + "/favicon.ico"},
		URLs: []openSearchURL{
			{"text/html", "", "get", base + "/?q={searchTerms}"},
			{"application/x-suggestions+json", "", "get", base + "/api/suggest?q={searchTerms}"},
			{"application/json", "", "get", base + "/api/query?q={searchTerms}"},
			{"application/opensearchdescription+xml", "self", "get", base + "/opensearch.xml"},
		},
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(d); err != nil {
		return fmt.Errorf("OpenSearch description: %w", err)
	}
	send(w, http.StatusOK, "application/opensearchdescription+xml; charset=utf-8", b.Bytes())
	return nil
}
