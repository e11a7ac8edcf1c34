package opensearch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Options of a connection.
type Options struct {
	Credentials Credentials
	CAFile      string // certificates that sign the server's; "": the system's
	// RetryFor is how long a request is repeated while the server does not answer. Zero
	// means five seconds.
	RetryFor time.Duration
}

// client sends requests to one server.
type client struct {
	address  Address
	auth     Credentials
	http     *http.Client
	retryFor time.Duration
	sent     atomic.Int64 // requests
}

// requestTime bounds one request. A server that takes longer than that for a bulk request of
// bulkBytes is as good as dead.
const requestTime = 2 * time.Minute

func newClient(a Address, o Options) (*client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	// Most of a response is already compressed. Compressing it again took the server
	// longer than the rest of a query.
	transport.DisableCompression = true
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificates for OpenSearch: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the certificates for OpenSearch: %s holds no certificate in PEM", o.CAFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	c := &client{address: a, auth: o.Credentials, http: &http.Client{Transport: transport, Timeout: requestTime}, retryFor: o.RetryFor}
	if c.retryFor == 0 {
		c.retryFor = 5 * time.Second
	}
	return c, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// call sends a request and reads the answer into out, if that is not nil. It repeats the
// request while the server does not answer or is overloaded, so every request must be
// safe to repeat. If that takes too long, the error wraps search.ErrUnavailable.
func (c *client) call(ctx context.Context, method, path string, body object, out any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encode a request for OpenSearch: %w", err)
		}
	}
	return c.retry(ctx, func() error { return c.once(ctx, method, path, payload, out) })
}

// retry repeats do while its error may be temporary.
func (c *client) retry(ctx context.Context, do func() error) error {
	deadline := time.Now().Add(c.retryFor)
	for delay := 50 * time.Millisecond; ; delay = min(2*delay, 2*time.Second) {
		err := do()
		switch {
		case err == nil || isFinal(err):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().Add(delay).After(deadline):
			what := "did not answer"
			if isA[*statusError](err) {
				what = "does not serve requests at the moment"
			}
			return unavailable{fmt.Errorf("OpenSearch at %s %s; check that it runs%s and is not overloaded: %w", c.address, what, c.address.maybeTLS(), err)}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(delay/2 + rand.N(delay/2)):
		}
	}
}

// once sends a request once.
func (c *client) once(ctx context.Context, method, path string, payload []byte, out any) error {
	r, err := http.NewRequestWithContext(ctx, method, c.address.base+path, bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("make a request for OpenSearch: %w", err)
	}
	if c.auth.User != "" {
		r.SetBasicAuth(c.auth.User, c.auth.Password)
	}
	r.Header.Set("Content-Type", "application/json") // the server also reads it as lines of JSON
	c.sent.Add(1)
	answer, err := c.http.Do(r)
	if err != nil {
		return c.connectError(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return c.errorOf(answer)
	}
	if out == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
	return json.NewDecoder(answer.Body).Decode(out)
}
