package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/viper"
)

// DefaultFile is read, if it exists, when no file is named.
const DefaultFile = "config.yaml"

// EnvPrefix is the prefix of all environment variables: warc.max_body is
// INDEXER_WARC_MAX_BODY.
const EnvPrefix = "INDEXER"

// Error says that a setting is unknown or has a value that is not allowed.
type Error struct {
	Where  string // file:line, variable or flag
	Key    string // "" if the error is not about a single key
	Reason string
}

// Flag is a flag given on the command line.
type Flag struct{ Name, Value string }

// Error names the place, the key and the reason.
func (e *Error) Error() string {
	if e.Key == "" {
		return e.Where + ": " + e.Reason
	}
	return e.Where + ": " + e.Key + ": " + e.Reason
}

// IsInFlag reports whether a flag has the value that is not allowed.
func (e *Error) IsInFlag() bool { return strings.HasPrefix(e.Where, flagPrefix) }

// Load combines the settings of a file with the others; see ReadFile and File.Load.
func Load(file string, flags map[string]Flag) (Config, error) {
	f, err := ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	return f.Load(flags)
}

// File is the content of a settings file. Keep it to use it again: a pipe can be read only once.
type File struct {
	path string // "" if there is no file
	data []byte
}

// ReadFile reads a settings file; "" means DefaultFile if it exists.
func ReadFile(path string) (File, error) {
	if path == "" {
		if _, err := os.Stat(DefaultFile); err != nil {
			return File{}, nil // the file is optional
		}
		path = DefaultFile
	}
	data, err := readAtMost(path, maxFile+1)
	if err != nil {
		return File{}, &Error{Where: path, Reason: "cannot read the configuration: " + reason(err)}
	}
	return File{path, data}, nil
}

// readAtMost returns the first n bytes of a file. Devices and pipes may never end.
func readAtMost(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, n))
	return data, errors.Join(err, f.Close())
}

// Load combines the settings: a flag overrides the environment, the environment
// overrides the file, and the file overrides the default.
//
// flags holds the flags given on the command line, by the key that each sets. An error about a
// setting is an *Error.
func (f File) Load(flags map[string]Flag) (Config, error) {
	v := viper.New()
	inFile, err := f.mergeInto(v)
	if err != nil {
		return Config{}, err
	}
	for key, flag := range flags {
		v.Set(key, flag.Value)
	}
	c := Default()
	for _, s := range settings {
		if err := v.BindEnv(s.key, envName(s.key)); err != nil {
			return Config{}, fmt.Errorf("config: %w", err)
		}
		v.SetDefault(s.key, s.get(&c))
		if value := v.GetString(s.key); !s.set(&c, value) {
			return Config{}, notAllowed(source(s.key, flags, inFile), s, value)
		}
	}
	if c.Crawl.RevisitMin > c.Crawl.RevisitMax {
		return Config{}, excluded(func(key string) string { return source(key, flags, inFile) })
	}
	return c, nil
}

// mergeInto puts the settings of the file into v and returns the position of each key.
func (f File) mergeInto(v *viper.Viper) (map[string]entry, error) {
	entries, err := parse(f.path, f.data)
	if err != nil {
		return nil, err
	}
	for key, e := range entries {
		// Check the value here, too, so that a mistake is reported even if a flag
		// overrides it.
		if s, _ := lookup(key); !s.set(new(Config), e.value) {
			return nil, notAllowed(e.where, s, e.value)
		}
		if err := v.MergeConfigMap(nested(key, e.value)); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}
	return entries, nil
}

// nested returns the map that viper expects for a dotted key.
func nested(key, value string) map[string]any {
	section, name, ok := strings.Cut(key, ".")
	if !ok {
		return map[string]any{key: value}
	}
	return map[string]any{section: map[string]any{name: value}}
}

func envName(key string) string {
	return EnvPrefix + "_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// Source returns where the setting with this key comes from, as an Error names it. Load has
// returned no error for these flags.
func (f File) Source(flags map[string]Flag, key string) string {
	inFile, _ := f.mergeInto(viper.New())
	return source(key, flags, inFile)
}

// source returns where the value of a key comes from, by order of precedence.
func source(key string, flags map[string]Flag, inFile map[string]entry) string {
	if flag, ok := flags[key]; ok {
		return flagPrefix + flag.Name
	}
	if os.Getenv(envName(key)) != "" {
		return "environment variable " + envName(key)
	}
	if e, ok := inFile[key]; ok {
		return e.where
	}
	return byDefault
}

const (
	flagPrefix = "flag --"
	byDefault  = "default"
)

// excluded returns the error that the bounds of revisits exclude each other. It names the
// place where one of them was set.
func excluded(source func(key string) string) error {
	const least, most = "crawl.revisit_min", "crawl.revisit_max"
	if where := source(least); where != byDefault {
		return &Error{Where: where, Key: least, Reason: "longer than " + most}
	}
	return &Error{Where: source(most), Key: most, Reason: "shorter than " + least + " is by default"}
}

func notAllowed(where string, s setting, value string) error {
	if s.secret {
		return &Error{Where: where, Key: s.key, Reason: "the value is not allowed (it is not shown, because it may contain a secret); want " + s.allowed}
	}
	allowed := s.allowed
	if s.lists {
		value = firstRefused(s, value)
		if strings.HasPrefix(where, flagPrefix) { // which is repeated
			allowed = strings.TrimSuffix(allowed, ", one per line")
		}
	}
	return &Error{Where: where, Key: s.key, Reason: fmt.Sprintf("%q is not allowed; want %s", value, allowed)}
}

// firstRefused returns the first item of a list that is not allowed.
func firstRefused(s setting, lines string) string {
	for _, line := range Patterns(lines) {
		if !s.set(new(Config), line) {
			return line
		}
	}
	return lines
}

// reason returns the message of the operating system without the path.
func reason(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, ": "); ok {
		return after
	}
	return text
}
