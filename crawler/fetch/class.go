package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"golang.org/x/net/http2"
)

// Class says why a fetch has no usable response.
type Class uint8

// The classes. Their texts (String) are stable: logs, metrics and page.Fetch.Err
// carry them.
const (
	OK             Class = iota // a usable response, with any status
	DNS                         // the host's name has no address, or the lookup got no answer
	RefusedAddress              // the host is at an address that must not be contacted
	Connect                     // no TCP connection
	TLS                         // no TLS connection: certificate, version, no TLS at all
	Proxy                       // the proxy cannot be reached or will not connect
	Timeout                     // a phase or the whole took too long, or the body was too slow
	Reset                       // the connection ended before the response did
	TooLarge                    // header, payload or decoded body over its limit
	BadResponse                 // not HTTP, or a body that cannot be decoded
	BadRequest                  // the URL cannot be requested
	Canceled                    // the caller's context ended, or the Fetcher was closed
)

var classNames = [...]string{
	OK: "ok", DNS: "dns", RefusedAddress: "refused-address", Connect: "connect", TLS: "tls", Proxy: "proxy",
	Timeout: "timeout", Reset: "reset", TooLarge: "too-large", BadResponse: "bad-response",
	BadRequest: "bad-request", Canceled: "canceled",
}

// String returns the class as a word.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// CountsAgainstHost reports whether a failure of this class is a reason to leave the
// host alone for a while. Failures caused by a single URL (its size), the proxy, or the
// caller are not.
func (c Class) CountsAgainstHost() bool {
	switch c {
	case DNS, Connect, TLS, Timeout, Reset, BadResponse:
		return true
	}
	return false
}

// ErrNoTunnel is part of the Cause of a failure of class Proxy if the proxy answered, but did
// not connect to the host.
var ErrNoTunnel = errors.New("no connection to the host")

// failure is why a fetch failed.
type failure struct {
	class Class
	// text is always the same for the same failure, because it becomes part of what is
	// stored: it contains no ports and no times, and nothing from the server but the
	// name of an unknown content coding. It names a refused address.
	text string
	err  error // the underlying error, or nil
}

func (f *failure) Error() string {
	if f.err == nil {
		return f.stable()
	}
	return f.stable() + ": " + f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// stable is the text for page.Fetch.Err.
func (f *failure) stable() string { return f.class.String() + ": " + f.text }

// classify says what kind of failure err is. If ctx has ended, the reason is better
// than the errors that followed from it; next come failures found in our own code, and
// last what net/http says.
func (f *Fetcher) classify(ctx context.Context, err error) *failure {
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		if known, ok := errors.AsType[*failure](cause); ok {
			return known
		}
		return &failure{Canceled, "the crawler gave up", cause}
	}
	if known, ok := errors.AsType[*failure](err); ok {
		return known
	}
	switch {
	case isTimeout(err):
		return &failure{Timeout, fmt.Sprintf("no response header within %v", f.opts.HeaderTime), err}
	case isHeaderTooLarge(err):
		return f.headerTooLarge(err)
	case isTLS(err):
		return &failure{TLS, tlsText(err), err}
	case isReset(err):
		return &failure{Reset, "the connection ended before the response did", err}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "proxyconnect" || op.Op == "socks connect") {
		if strings.Contains(op.Error(), "unknown error ") { // so net/http calls what a SOCKS proxy says of the host
			err = errors.Join(err, ErrNoTunnel)
		}
		return &failure{Proxy, "the proxy does not connect", err}
	}
	return &failure{BadResponse, "the response is not valid HTTP", err}
}

func (f *Fetcher) headerTooLarge(err error) *failure {
	return &failure{TooLarge, fmt.Sprintf("the response header is over %d bytes", f.opts.MaxHeader), err}
}

func isTimeout(err error) bool {
	ne, ok := errors.AsType[net.Error](err)
	return ok && ne.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// isReset reports whether the connection, or the HTTP/2 stream, ended. net/http has its
// own copy of http2, whose StreamError converts to this one (method As). Its errors for a
// connection whose end the server announced, or on which it answers no ping, have only texts;
// tests verify them.
func isReset(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || is[http2.StreamError](err) ||
		strings.Contains(err.Error(), "server sent GOAWAY and closed the connection") ||
		strings.Contains(err.Error(), "http2: client connection lost")
}

// isHeaderTooLarge compares the texts of net/http's errors, which have no types; tests
// verify all.
func isHeaderTooLarge(err error) bool {
	return strings.Contains(err.Error(), "server response headers exceeded") ||
		strings.Contains(err.Error(), "response header list larger than") ||
		strings.Contains(err.Error(), "; header list too large") // interim responses
}

func isTLS(err error) bool {
	return is[tls.RecordHeaderError](err) || is[tls.AlertError](err) || is[*tls.CertificateVerificationError](err)
}

// is reports whether err is or wraps an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func tlsText(err error) string {
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case is[tls.RecordHeaderError](err):
		return "what answers does not speak TLS"
	case is[x509.HostnameError](err):
		return "the certificate is for another host"
	case is[x509.UnknownAuthorityError](err):
		return "the certificate is from an unknown authority"
	case isInvalid && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not yet valid"
	case isInvalid:
		return "the certificate is not valid"
	}
	return "the TLS handshake failed"
}

func connectText(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host's address cannot be reached"
	}
	return "no connection"
}
