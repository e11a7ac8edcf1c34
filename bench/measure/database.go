package measure

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"path/filepath"
)

// Database is a PostgreSQL database with a schema for one measurement.
type Database struct{ url *url.URL }

// ParseDatabase reads the setting store. Its errors show no password.
func ParseDatabase(setting, schema string) (*Database, error) {
	u, err := url.Parse(setting)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("the database has to be a URL: postgres://USER@HOST/DATABASE")
	}
	q := u.Query()
	q.Set("schema", schema)
	u.RawQuery = q.Encode()
	return &Database{u}, nil
}

// Setting is the database as it was given, with the schema.
func (d *Database) Setting() string { return d.url.String() }

// Server is where the server listens, as arguments of net.Dial.
func (d *Database) Server() (network, address string) {
	q := d.url.Query()
	port := cmp.Or(q.Get("port"), d.url.Port(), "5432")
	host := cmp.Or(q.Get("host"), d.url.Hostname(), "localhost")
	if filepath.IsAbs(host) {
		return "unix", filepath.Join(host, ".s.PGSQL."+port)
	}
	return "tcp", net.JoinHostPort(host, port)
}

// At is the setting by which processes reach the database through a proxy. The proxy has
// another name than the server's certificate, so there is no TLS.
func (d *Database) At(address string) string {
	u, q := *d.url, d.url.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = address, q.Encode()
	return u.String()
}
