package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/internal/humanize"
)

// setting is one key: its field in Config and the values it may have.
type setting struct {
	key     string
	allowed string // "want …"
	// set stores a value in its field, and reports whether it is allowed.
	set func(c *Config, value string) bool
	get func(c *Config) string
	// lists says that the file may have a list, whose items become lines of the value.
	lists bool
	// secret says that no message may show the value.
	secret bool
}

func (s setting) hidden() setting {
	s.secret = true
	return s
}

func (s setting) list() setting {
	s.lists = true
	return s
}

// settings lists all keys, in the order of config.yaml.
var settings = slices.Concat([]setting{
	checked("data", "a path", func(c *Config) *string { return &c.Data }, func(v string) bool { return v != "" && noZero(v) }),
	checked("store", "badger: or nothing for the data directory, or a URL such as postgres://USER@HOST/DATABASE", func(c *Config) *string { return &c.Store }, isStore).hidden(),
	checked("index", "sqlite: or a URL such as opensearch+https://HOST/NAME", func(c *Config) *string { return &c.Index }, isIndex).hidden(),
	number("index_shards", func(c *Config) *int { return &c.IndexShards }, 1, 1024),
	checked("opensearch.credentials", "a path or nothing", func(c *Config) *string { return &c.OpenSearch.Credentials }, noZero),
	checked("opensearch.ca", "a path or nothing", func(c *Config) *string { return &c.OpenSearch.CA }, noZero),
	checked("oracle", "addresses HOST:PORT, separated by commas, or nothing", func(c *Config) *string { return &c.Oracle }, areAddresses),
	checked("etcd", "addresses HOST:PORT, separated by commas, or nothing", func(c *Config) *string { return &c.Etcd }, areAddresses),
	checked("tls.cert", "a path or nothing", func(c *Config) *string { return &c.TLS.Cert }, noZero),
	checked("tls.key", "a path or nothing", func(c *Config) *string { return &c.TLS.Key }, noZero),
	checked("tls.ca", "a path or nothing", func(c *Config) *string { return &c.TLS.CA }, noZero),
	checked("tls.token", "a path or nothing", func(c *Config) *string { return &c.TLS.Token }, noZero),
	boolean("group_access", func(c *Config) *bool { return &c.GroupAccess }),
	oneOf("log_level", func(c *Config) *string { return &c.LogLevel }, "debug", "info", "warn", "error"),
	oneOf("format", func(c *Config) *string { return &c.Format }, "text", "json"),
	number("workers", func(c *Config) *int { return &c.Workers }, 1, 256),
	number("backlog", func(c *Config) *int { return &c.Backlog }, 10, 1_000_000),
	autoOr(number("memory", func(c *Config) *int { return &c.Memory }, 64, 1<<20)),
	oneOf("commit", func(c *Config) *string { return &c.Commit }, "auto", "one-phase", "two-phase"),
	boolean("sync", func(c *Config) *bool { return &c.Sync }),
	duration("history", func(c *Config) *time.Duration { return &c.History }, 10*365*24*time.Hour),
	oneOf("office", func(c *Config) *string { return &c.Office }, "keep", "on", "off"),
	oneOf("pdf", func(c *Config) *string { return &c.PDF }, "keep", "on", "off"),
	oneOf("render", func(c *Config) *string { return &c.Render }, "keep", "off", "auto", "all"),
	checked("browser", "a program or nothing", func(c *Config) *string { return &c.Browser }, noZero),
	number("trace", func(c *Config) *int { return &c.Trace }, 0, 10_000_000),
	toleranceOf("rank_tolerance", func(c *Config) *float64 { return &c.RankTolerance }),
	number("warc.max_body", func(c *Config) *int { return &c.WARC.MaxBody }, 1<<10, 1<<30),
}, querySettings, crawlSettings, serveSettings)

// Keys lists the names of all settings, as they appear in the file.
func Keys() []string {
	keys := make([]string, len(settings))
	for i, s := range settings {
		keys[i] = s.key
	}
	return keys
}

func lookup(key string) (setting, bool) {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return settings[i], true
}

func noZero(v string) bool { return !strings.ContainsRune(v, 0) }

// isStore refuses what is neither the data directory nor a URL. A mistyped URL (postgres:/db)
// would otherwise silently mean the data directory.
func isStore(v string) bool {
	return v == "" || v == "badger:" || noZero(v) && strings.Contains(v, "://")
}

// isIndex refuses what is neither index files nor a URL. The package of the search server knows
// what else its URL must hold.
func isIndex(v string) bool {
	return v == "" || v == "sqlite:" || noZero(v) && strings.HasPrefix(v, "opensearch+") && strings.Contains(v, "://")
}

// areAddresses accepts what remote.ParseAddresses splits.
func areAddresses(v string) bool {
	list := strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	return !slices.ContainsFunc(list, func(address string) bool { return !isAddress(address) })
}

// checked is a text that has to satisfy ok.
func checked(key, allowed string, field func(*Config) *string, ok func(string) bool) setting {
	return setting{
		key: key, allowed: allowed,
		set: func(c *Config, v string) bool { *field(c) = v; return ok(v) },
		get: func(c *Config) string { return *field(c) },
	}
}

// period is a time with its unit, as in 1m30s, between two bounds.
func period(key string, field func(*Config) *time.Duration, least, most time.Duration) setting {
	return timed(key, fmt.Sprintf("a time like 1m30s or 36h, from %s to %s", humanize.Duration(least), humanize.Duration(most)), field, least, most)
}

// duration is a time with its unit, up to a bound.
func duration(key string, field func(*Config) *time.Duration, most time.Duration) setting {
	return timed(key, fmt.Sprintf("a duration like 0s, 90m or 24h, at most %s", humanize.Duration(most)), field, 0, most)
}

func timed(key, allowed string, field func(*Config) *time.Duration, least, most time.Duration) setting {
	return setting{
		key: key, allowed: allowed,
		set: func(c *Config, v string) bool {
			d, err := time.ParseDuration(v)
			*field(c) = d
			return err == nil && d >= least && d <= most
		},
		get: func(c *Config) string { return field(c).String() },
	}
}

func oneOf(key string, field func(*Config) *string, values ...string) setting {
	last := len(values) - 1
	allowed := strings.Join(values[:last], ", ") + " or " + values[last]
	return checked(key, allowed, field, func(v string) bool { return slices.Contains(values, v) })
}

func number(key string, field func(*Config) *int, least, most int) setting {
	return setting{
		key: key, allowed: fmt.Sprintf("a whole number from %d to %d", least, most),
		set: func(c *Config, v string) bool {
			n, err := strconv.Atoi(v)
			*field(c) = n
			return err == nil && n >= least && n <= most
		},
		get: func(c *Config) string { return strconv.Itoa(*field(c)) },
	}
}

// autoOr allows auto in addition to the numbers of a setting, and stores it as 0.
func autoOr(s setting) setting {
	const auto = "auto"
	set, get := s.set, s.get
	s.allowed = auto + ", or " + s.allowed
	s.set = func(c *Config, v string) bool {
		if v == auto {
			_ = set(c, "0")
			return true
		}
		return set(c, v)
	}
	s.get = func(c *Config) string {
		if v := get(c); v != "0" {
			return v
		}
		return auto
	}
	return s
}

func boolean(key string, field func(*Config) *bool) setting {
	return setting{
		key: key, allowed: "true or false",
		set: func(c *Config, v string) bool { *field(c) = v == "true"; return v == "true" || v == "false" },
		get: func(c *Config) string { return strconv.FormatBool(*field(c)) },
	}
}

// toleranceOf is a relative error, or 0.
func toleranceOf(key string, field func(*Config) *float64) setting {
	const least, most = 0.000001, 0.1
	allowed := fmt.Sprintf("0, or a number from %.6f to %g", least, most)
	return decimal(key, allowed, field, func(x float64) bool { return x == 0 || x >= least && x <= most })
}

// decimal is a number that has to satisfy ok, which refuses NaN.
func decimal(key, allowed string, field func(*Config) *float64, ok func(float64) bool) setting {
	return setting{
		key: key, allowed: allowed,
		set: func(c *Config, v string) bool {
			x, err := strconv.ParseFloat(v, 64)
			*field(c) = x
			return err == nil && ok(x)
		},
		get: func(c *Config) string { return strconv.FormatFloat(*field(c), 'g', -1, 64) },
	}
}
