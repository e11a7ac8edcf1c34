package opensearch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/opensearchtest"
	"github.com/webindexer/indexer/page"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate, in PEM
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), file: filepath.Join(t.TempDir(), "ca.pem")}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key))
	a.cert = must(x509.ParseCertificate(der))
	if err := os.WriteFile(a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// sign makes a certificate for a host, which ends at a time.
func (a *authority) sign(host string, ends time.Time) tls.Certificate {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: ends, KeyUsage: x509.KeyUsageDigitalSignature}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der := must(x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

const testPassword = "corRect-horse"

// guarded starts a server that does what the security plugin does: it asks for TLS, a user and
// a password. It passes requests on to a server without that plugin, and returns its own port.
func guarded(t *testing.T, server string, cert tls.Certificate) (port string) {
	t.Helper()
	pass := httputil.NewSingleHostReverseProxy(must(url.Parse(server)))
	pass.Transport = &http.Transport{DisableKeepAlives: true}
	pass.ErrorLog = log.New(io.Discard, "", 0)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "indexer" && user != "reader" || password != testPassword:
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
		case user == "reader" && r.Method == http.MethodPut:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"error":{"type":"security_exception","reason":"no permissions for [indices:admin/create]"},"status":403}`)
		default:
			pass.ServeHTTP(w, r)
		}
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return must(url.Parse(s.URL)).Port()
}

// TestGuarded writes and searches through TLS with a password.
func TestGuarded(t *testing.T) {
	server := opensearchtest.Shared(t)
	ca := newAuthority(t)
	port := guarded(t, server.URL, ca.sign("127.0.0.1", time.Now().Add(time.Hour)))
	a := must(ParseAddress(prefix + "https://127.0.0.1:" + port + "/guarded?replicas=0"))
	o := Options{Credentials: Credentials{"indexer", testPassword}, CAFile: ca.file, RetryFor: time.Minute}
	x := must(Open(a, o))
	defer x.Close()
	build(t, x, []index.Change{index.Upsert(&index.Document{Cluster: page.ContentKey{1}, Seq: 1, URL: "https://a.example/", Title: "Lighthouse"})})
	s := must(OpenShard(a, o))
	defer s.Close()
	if res := must(search.NewShards([]search.ShardSource{s}).Search(t.Context(), "lighthouse", search.Options{})); res.Total != 1 {
		t.Errorf("%d documents", res.Total)
	}
}

// TestRefused: a connection that is not safe, or a user who may not connect, is refused at once,
// and the error says what to change. It never shows the password.
func TestRefused(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	ca, other := newAuthority(t), newAuthority(t)
	good := guarded(t, plain.URL, ca.sign("127.0.0.1", time.Now().Add(time.Hour)))
	elsewhere := guarded(t, plain.URL, ca.sign("search.example", time.Now().Add(time.Hour)))
	expired := guarded(t, plain.URL, ca.sign("127.0.0.1", time.Now().Add(-time.Hour)))
	right := Credentials{"indexer", testPassword}
	for _, c := range []struct {
		name, url string
		o         Options
		kind      error
		want      string
	}{
		{"unknown authority", "https://127.0.0.1:" + good, Options{Credentials: right}, search.ErrUnavailable, "name the file in opensearch.ca"},
		{"other authority", "https://127.0.0.1:" + good, Options{Credentials: right, CAFile: other.file}, search.ErrUnavailable, "name the file in opensearch.ca"},
		{"other name", "https://127.0.0.1:" + elsewhere, Options{Credentials: right, CAFile: ca.file}, search.ErrUnavailable, "its certificate is for another name"},
		{"expired", "https://127.0.0.1:" + expired, Options{Credentials: right, CAFile: ca.file}, search.ErrUnavailable, "its certificate is not valid"},
		{"http to a TLS port", "http://127.0.0.1:" + good, Options{Credentials: right}, search.ErrUnavailable, "expects TLS: write opensearch+https"},
		{"TLS to an http port", strings.Replace(plain.URL, "http:", "https:", 1), Options{Credentials: right, CAFile: ca.file}, search.ErrUnavailable, "it does not speak TLS on this port"},
		{"no password", "https://127.0.0.1:" + good, Options{CAFile: ca.file}, index.ErrUnusable, "asks for a user and a password: set opensearch.credentials, or OPENSEARCH_USERNAME"},
		{"wrong password", "https://127.0.0.1:" + good, Options{Credentials: Credentials{"indexer", "wrong-" + testPassword}, CAFile: ca.file}, index.ErrUnusable, `does not accept the password of user "indexer"`},
		{"wrong user", "https://127.0.0.1:" + good, Options{Credentials: Credentials{"nobody", testPassword}, CAFile: ca.file}, index.ErrUnusable, `does not accept the password of user "nobody"`},
		{"no permission", "https://127.0.0.1:" + good, Options{Credentials: Credentials{"reader", testPassword}, CAFile: ca.file}, index.ErrUnusable, `does not permit that to user "reader": OpenSearch answered 403 security_exception: no permissions for`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.RetryFor = time.Hour // which no case may wait for
			x := must(Open(must(ParseAddress(prefix+c.url+"/refused")), c.o))
			defer x.Close()
			_, err := x.Begin(t.Context(), "test")
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), testPassword) {
				t.Errorf("%v, want %v: %q", err, c.kind, c.want)
			}
		})
	}
}

// TestSilentlyRefused: a server that expects TLS may close other connections without an answer.
func TestSilentlyRefused(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	x := must(Open(must(ParseAddress(prefix+s.URL+"/name")), Options{RetryFor: time.Millisecond}))
	defer x.Close()
	if _, err := x.Inspect(context.Background()); !errors.Is(err, search.ErrUnavailable) || !strings.Contains(err.Error(), "that it does not expect TLS (opensearch+https)") {
		t.Error(err)
	}
}

// TestCAFile: a file without certificates is refused before anything is asked.
func TestCAFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{empty: "holds no certificate in PEM", filepath.Join(t.TempDir(), "none"): "no such file"} {
		if _, err := Open(must(ParseAddress(prefix+"https://h/name")), Options{CAFile: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
