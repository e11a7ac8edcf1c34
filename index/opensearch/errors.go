package opensearch

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
)

// statusError is an answer that is not a success.
type statusError struct {
	status int
	kind   string // as the server names it, such as index_not_found_exception
	reason string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("OpenSearch answered %d %s: %s", e.status, e.kind, e.reason)
}

func isNotFound(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status == http.StatusNotFound
}

// isTemporary reports whether an answer says nothing about the request: the server, or a proxy
// in front of it, is overloaded or starting, or the index is closed, as it has to be while a
// snapshot of it is restored.
func (e *statusError) isTemporary() bool {
	switch e.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return e.kind == "index_closed_exception"
}

// unavailable is a search.ErrUnavailable with its own text, because the text of
// search.ErrUnavailable is about shards.
type unavailable struct{ error }

// Is makes it a search.ErrUnavailable.
func (unavailable) Is(target error) bool { return target == search.ErrUnavailable }

// Unwrap returns the error with the text.
func (u unavailable) Unwrap() error { return u.error }

// isFinal reports whether a request that got this error would get it again if repeated at once.
func isFinal(err error) bool {
	e, answered := errors.AsType[*statusError](err)
	return answered && !e.isTemporary() || errors.Is(err, errInsecure) || errors.Is(err, index.ErrCorrupt)
}

// errInsecure means that no connection as safe as the settings require could be made. A
// person has to change something, so repeating the request does not help. Such an error is
// also a search.ErrUnavailable, so exports wait: an expired certificate will be renewed.
var errInsecure = errors.New("no safe connection")

// connectError explains the error of a request that got no answer.
func (c *client) connectError(err error) error {
	reason := ""
	switch {
	case isA[x509.UnknownAuthorityError](err):
		reason = "its certificate is signed by an authority that is not known here: put the certificate of that authority into a file, and name the file in opensearch.ca"
	case isA[x509.HostnameError](err):
		reason = "its certificate is for another name: use the name of the certificate in the URL"
	case isA[x509.CertificateInvalidError](err):
		reason = "its certificate is not valid"
	case isA[tls.RecordHeaderError](err) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		reason = "it does not speak TLS on this port: name its TLS port, or write opensearch+http"
	default:
		return err
	}
	return unavailable{fmt.Errorf("%w to OpenSearch at %s: %s: %w", errInsecure, c.address, reason, err)}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// maxErrorBody bounds what is read of the explanation of an error.
const maxErrorBody = 64 << 10

// errorOf returns the error for an answer that is not a success.
func (c *client) errorOf(answer *http.Response) error {
	e := &statusError{status: answer.StatusCode, kind: http.StatusText(answer.StatusCode)}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
	if err != nil {
		return err // the connection broke: the outcome is unknown
	}
	var told struct {
		Error struct{ Type, Reason string }
	}
	if json.Unmarshal(body, &told) == nil && told.Error.Type != "" {
		e.kind, e.reason = told.Error.Type, told.Error.Reason
	} else {
		e.reason = strings.ToValidUTF8(string(body[:min(len(body), 200)]), "\uFFFD")
	}
	switch {
	case answer.StatusCode == http.StatusUnauthorized && c.auth.User == "":
		return fmt.Errorf("%w: OpenSearch at %s asks for a user and a password: set opensearch.credentials, or %s and %s: %w", index.ErrUnusable, c.address, UserVariable, PasswordVariable, e)
	case answer.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: OpenSearch at %s does not accept the password of user %q: %w", index.ErrUnusable, c.address, c.auth.User, e)
	case answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: OpenSearch at %s does not permit that to user %q: %w", index.ErrUnusable, c.address, c.auth.User, e)
	case answer.StatusCode == http.StatusBadRequest && strings.Contains(e.reason, "HTTP request to an HTTPS server"):
		return unavailable{fmt.Errorf("%w: OpenSearch at %s expects TLS: write opensearch+https: %w", errInsecure, c.address, e)}
	}
	return e
}
