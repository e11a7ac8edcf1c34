package warc

// Stats counts what a Reader has seen so far.
type Stats struct {
	// Records counts records by type: response, resource, revisit, request,
	// metadata, warcinfo, conversion, continuation, and "unknown" for all others.
	Records map[string]int
	// Fetches is how many records gave a fetch, Failed how many of them carry Err.
	Fetches, Failed int
	// OtherSchemes counts responses, resources and revisits of URLs that are not
	// http or https (dns:, ftp:, mailto:).
	OtherSchemes int
	// Problems is how many problems there were, kept ones and others.
	Problems int
	// Bytes is the position in the file as stored, Size the file's size or -1
	// where it is not known; for a progress bar.
	Bytes, Size int64
	// Uncompressed is the position in the uncompressed stream, in bytes.
	Uncompressed int64
}

var recordTypes = map[string]bool{"response": true, "resource": true, "revisit": true, "request": true,
	"metadata": true, "warcinfo": true, "conversion": true, "continuation": true}

// countRecord keeps the number of keys bounded whatever types a file makes up.
func (s *Stats) countRecord(typ string) {
	if !recordTypes[typ] {
		typ = "unknown"
	}
	s.Records[typ]++
}
