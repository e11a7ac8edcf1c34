package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/web"
)

// serveFlagKeys maps the flags of serve to the settings that they set.
var serveFlagKeys = map[string]string{
	"listen": "serve.listen", "allow-remote": "serve.allow_remote", "allow-host": "serve.allow_hosts", "allow-origin": "serve.allow_origins",
	"user": "serve.user", "password-file": "serve.password_file", "token-file": "serve.token_file", "pprof": "serve.pprof",
}

// registerServe declares the flags of serve. Their values are checked and read together
// with the other settings.
func registerServe(cmd *cobra.Command, d config.Serve) {
	flags := cmd.Flags()
	flags.String("listen", d.Listen, "`address` to listen on, HOST:PORT; port 0 picks a free port")
	flags.Bool("allow-remote", d.AllowRemote, "let other machines reach it; needs credentials")
	flags.String("user", d.User, "user `name` for the password")
	flags.String("password-file", d.PasswordFile, "`file` whose first line is the password (HTTP Basic)")
	flags.String("token-file", d.TokenFile, "`file` whose first line is a token (HTTP Bearer, or the password of any user)")
	flags.StringArray("allow-host", nil, "host `name` under which a proxy forwards requests; may be repeated")
	flags.StringArray("allow-origin", nil, "`origin` whose pages may search, such as https://docs.example; may be repeated")
	flags.Bool("pprof", d.Profiles, "serve profiles of this process under /debug/pprof/")
	setSettings(flags, serveFlagKeys)
}

// credentials returns the credentials that the settings name, or nil.
func credentials(c config.Serve) (*web.Credentials, error) {
	switch {
	case c.TokenFile != "" && (c.User != "" || c.PasswordFile != ""):
		return nil, &usageError{reason: "--token-file (serve.token_file) excludes --user and --password-file (serve.user, serve.password_file)", help: "indexer serve"}
	case (c.User == "") != (c.PasswordFile == ""):
		return nil, &usageError{reason: "--user and --password-file (serve.user, serve.password_file) must be given together", help: "indexer serve"}
	case c.TokenFile != "":
		return readCredentials("serve.token_file", c.TokenFile, web.Token)
	case c.User != "":
		return readCredentials("serve.password_file", c.PasswordFile, func(password string) (*web.Credentials, error) { return web.Password(c.User, password) })
	}
	return nil, nil
}

func readCredentials(key, file string, parse func(string) (*web.Credentials, error)) (*web.Credentials, error) {
	secret, err := web.ReadSecret(file)
	if err != nil {
		return nil, &inputError{what: file, reason: key + " refers to this file, which cannot be read: " + systemReason(errors.Unwrap(err))}
	}
	c, err := parse(secret)
	if err != nil {
		return nil, &inputError{what: file, reason: err.Error()}
	}
	return c, nil
}

// webOptions returns the options of the server, except for its searcher and inspector.
func (a *app) webOptions(c *web.Credentials) web.Options {
	s := a.cfg.Serve
	o := web.Options{
		Credentials: c, Hosts: config.Patterns(s.AllowHosts), AnyHost: c != nil,
		Origins:    config.Patterns(s.AllowOrigins),
		Query:      search.Options{Weights: search.Weights(a.cfg.Query.Weights), PerHost: a.cfg.Query.PerHost, Language: a.cfg.Query.Language},
		Concurrent: s.Requests, Time: s.RequestTime, Drain: s.Drain,
		Log: a.log.Named("web"),
	}
	if s.Drain == 0 {
		o.Drain = -1 // in the options 0 is the default
	}
	return o
}
