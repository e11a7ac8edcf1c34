package crawltest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
)

// authority signs the certificates of a web's hosts.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "crawltest"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	var der []byte
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err == nil {
		if der, err = x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key); err == nil {
			a.cert, err = x509.ParseCertificate(der)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// issue makes a certificate for an address.
func (a *authority) issue(t testing.TB, ip net.IP) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: ip.String()},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter, IPAddresses: []net.IP{ip},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Roots returns the certificate that a client must trust, in PEM.
func (w *Web) Roots() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.authority.cert.Raw})
}

// trust makes a fetcher trust only these certificates; with none, the system's.
func trust(o *fetch.Options, roots []byte) error {
	if len(roots) == 0 {
		return nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(roots) {
		return fmt.Errorf("no certificate in %q", roots)
	}
	o.TLS = &tls.Config{RootCAs: pool}
	return nil
}
