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
	"fmt"
	"strings"
)

// checkDigests compares the block with the digests in the header: wrong says which
// one differs, and proved is true if one shows the block to be whole. A block with
// a wrong digest is used all the same: writers that computed digests of something
// else (wget, old Heritrix) are many times more common than blocks that rotted.
func (r *Reader) checkDigests() (wrong string, proved bool) {
	if r.opts.NoDigests {
		return "", false
	}
	rec := &r.rec
	if want := rec.Fields.Get("WARC-Block-Digest"); want != "" {
		match, known := digestMatches(want, rec.Block)
		if known && !match {
			return "the block does not have its WARC-Block-Digest " + abbreviate(want), false
		}
		if known {
			return "", true // it covers the payload too
		}
	}
	if want := rec.Fields.Get("WARC-Payload-Digest"); want != "" && rec.Type == "response" {
		return checkPayload(rec.Block, want)
	}
	return "", false
}

// checkPayload accepts the payload with and without its transfer coding: the
// standard means the latter, many writers the former.
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
// base64. It knows nothing of algorithms and spellings it cannot read.
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

// labelledSHA1 is the digest of data as WARC files commonly have it.
func labelledSHA1(data []byte) string {
	h := sha1.Sum(data)
	return fmt.Sprintf("sha1:%s", base32.StdEncoding.EncodeToString(h[:]))
}
