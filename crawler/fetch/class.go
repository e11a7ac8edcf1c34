package fetch

// Class says what kind of thing kept a fetch from having a usable response.
type Class uint8

// The classes. Their texts (String) are stable: logs, metrics and page.Fetch.Err
// carry them.
const (
	OK             Class = iota // a usable response, of whatever status
	DNS                         // the host's name has no address, or no answer came
	RefusedAddress              // the host is at an address that is not to be contacted
	Connect                     // no TCP connection
	TLS                         // no TLS connection: certificate, version, no TLS at all
	Proxy                       // the proxy cannot be reached or will not connect
	Timeout                     // a phase or the whole took too long, or the body was too slow
	Reset                       // the connection ended before the response did
	TooLarge                    // header, payload or decoded body over its limit
	BadResponse                 // no HTTP, or a body that cannot be decoded
	BadRequest                  // the URL cannot be asked for
	Canceled                    // the caller's context ended, or the Fetcher was closed
)

var classNames = [...]string{
	OK: "ok", DNS: "dns", RefusedAddress: "refused-address", Connect: "connect", TLS: "tls", Proxy: "proxy",
	Timeout: "timeout", Reset: "reset", TooLarge: "too-large", BadResponse: "bad-response",
	BadRequest: "bad-request", Canceled: "canceled",
}

// String is the class as a word.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// CountsAgainstHost reports whether a failure of this class is a reason to leave
// the host alone for a while. What only one URL is to blame for (its size), the
// proxy, or the caller, is not.
func (c Class) CountsAgainstHost() bool {
	switch c {
	case DNS, Connect, TLS, Timeout, Reset, BadResponse:
		return true
	}
	return false
}

// failure is why a fetch failed.
type failure struct {
	class Class
	// text is the same whenever the same happens, as it becomes part of what is
	// stored: it holds no ports, no times and none of the server's words. A refused
	// address is named.
	text string
	err  error // what it was found out from, or nil
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
