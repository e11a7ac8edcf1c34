package config

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/viper"
)

// DefaultFile is the file that is read, where present, if none is named.
const DefaultFile = "config.yaml"

// EnvPrefix begins the name of each environment variable: warc.max_body is
// INDEXER_WARC_MAX_BODY.
const EnvPrefix = "INDEXER"

// Error is a setting that cannot be what it is said to be.
type Error struct {
	Where  string // file:line, variable or flag
	Key    string // "" if no one key is concerned
	Reason string
}

// Flag is a command line flag that was given.
type Flag struct{ Name, Value string }

// Error names place, key and reason.
func (e *Error) Error() string {
	if e.Key == "" {
		return e.Where + ": " + e.Reason
	}
	return e.Where + ": " + e.Key + ": " + e.Reason
}

// Load puts the settings together: a flag goes before the environment, that
// before the file, that before the default.
//
// file is the file to read; "" stands for DefaultFile if there is one. flags
// holds the flags that were given, by the key they stand for. Errors about
// settings are an *Error.
func Load(file string, flags map[string]Flag) (Config, error) {
	v := viper.New()
	inFile, err := loadFile(v, file)
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
	return c, nil
}

// loadFile reads the file into v and returns where each key stands in it.
func loadFile(v *viper.Viper, file string) (map[string]entry, error) {
	path := file
	if path == "" {
		if _, err := os.Stat(DefaultFile); err != nil {
			return nil, nil // none is needed
		}
		path = DefaultFile
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{Where: path, Reason: "cannot read the configuration: " + reason(err)}
	}
	entries, err := parse(path, data)
	if err != nil {
		return nil, err
	}
	for key, e := range entries {
		// A value is checked here, too, so that a mistake shows although a flag
		// hides it today.
		if s, _ := lookup(key); !s.set(new(Config), e.value) {
			return nil, notAllowed(e.where, s, e.value)
		}
		if err := v.MergeConfigMap(nested(key, e.value)); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}
	return entries, nil
}

// nested is the map that viper wants for a dotted key.
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

// source says where the value of a key comes from, in the order of precedence.
func source(key string, flags map[string]Flag, inFile map[string]entry) string {
	if flag, ok := flags[key]; ok {
		return "flag --" + flag.Name
	}
	if os.Getenv(envName(key)) != "" {
		return "environment variable " + envName(key)
	}
	if e, ok := inFile[key]; ok {
		return e.where
	}
	return "default"
}

func notAllowed(where string, s setting, value string) error {
	if s.secret {
		return &Error{Where: where, Key: s.key, Reason: "the value, which is not shown as it may hold a secret, is not allowed; want " + s.allowed}
	}
	return &Error{Where: where, Key: s.key, Reason: fmt.Sprintf("%q is not allowed; want %s", value, s.allowed)}
}

// reason is the operating system's word without the path, which is named already.
func reason(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, ": "); ok {
		return after
	}
	return text
}
