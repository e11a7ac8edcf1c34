package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// checkDigests compares the block with the digests in the header. wrong names the one that
// differs; proved reports whether one shows that the block is complete. A block with a
// wrong digest is still used: writers that compute digests of something else (wget, old
// Heritrix) are far more common than corrupt blocks.
func (r *Reader) checkDigests() (wrong string, proved bool) {
	if r.opts.NoDigests {
		return "", false
	}
	rec := &r.rec
	if want := rec.Fields.Get("WARC-Block-Digest"); want != "" {
		match, known := digestMatches(want, rec.Block)
		if known && !match && rec.Type == "revisit" {
			nothing, _ := digestMatches(want, nil) // wget gives its revisits the digest of nothing
			known = !nothing
		}
		if known && !match {
			return "the block does not have its WARC-Block-Digest " + abbreviate(want), false
		}
		if known {
			return "", true // it covers the payload, too
		}
	}
	if want := rec.Fields.Get("WARC-Payload-Digest"); want != "" && rec.Type == "response" {
		return checkPayload(rec.Block, want)
	}
	return "", false
}

// checkPayload accepts digests of the payload with and without its transfer coding: the
// standard asks for the latter, but many writers use the former.
func checkPayload(block []byte, want string) (wrong string, proved bool) {
	n := headerEnd(block, 0)
	if n < 0 {
		return "", false
	}
	payload := block[n:]
	match, known := digestMatches(want, payload)
	if !match && known {
		if plain, chunked, err := dechunk(payload); chunked && err == nil {
			match, _ = digestMatches(want, plain)
		}
	}
	if known && !match {
		return "the payload does not have its WARC-Payload-Digest " + abbreviate(want), false
	}
	return "", known
}

// digestMatches compares data with a labelled digest, "sha1:…", in base32, hex or
// base64. For other algorithms and encodings, known is false.
func digestMatches(labelled string, data []byte) (match, known bool) {
	label, value, _ := strings.Cut(labelled, ":")
	var sum []byte
	switch strings.ToLower(strings.ReplaceAll(label, "-", "")) {
	case "sha1":
		h := sha1.Sum(data)
		sum = h[:]
	case "sha256":
		h := sha256.Sum256(data)
		sum = h[:]
	case "sha512":
		h := sha512.Sum512(data)
		sum = h[:]
	case "md5":
		h := md5.Sum(data)
		sum = h[:]
	default:
		return false, false
	}
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString,
		decodeBase32,
		base64.RawStdEncoding.DecodeString,
		base64.RawURLEncoding.DecodeString,
	} {
		got, err := decode(strings.TrimRight(value, "="))
		if err == nil && len(got) == len(sum) {
			return bytes.Equal(got, sum), true
		}
	}
	return false, false
}

func decodeBase32(s string) ([]byte, error) {
	return base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(s))
}

// Digest returns the digest of a block or payload in the form most common in WARC files, which
// is the one that a Writer uses.
func Digest(data []byte) string {
	h := sha1.Sum(data)
	return "sha1:" + base32.StdEncoding.EncodeToString(h[:])
}
