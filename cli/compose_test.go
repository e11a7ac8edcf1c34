package cli

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/webindexer/indexer/internal/config"
)

// composed is what a compose file says.
type composed struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
	Secrets  map[string]any     `yaml:"secrets"`
}

type service struct {
	Image       string            `yaml:"image"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Profiles    []string          `yaml:"profiles"`
	Secrets     []string          `yaml:"secrets"`
	DependsOn   map[string]any    `yaml:"depends_on"`
}

func readCompose(t *testing.T) *composed {
	t.Helper()
	text, err := os.ReadFile("../packaging/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := new(composed)
	if err := yaml.Unmarshal(text, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCompose: no container runs in tests, so the compose file is held against the program:
// its commands, flags and settings exist, and whatever its services refer to is there.
func TestCompose(t *testing.T) {
	c := readCompose(t)
	programs := 0
	for name, s := range c.Services {
		t.Run(name, func(t *testing.T) {
			if !regexp.MustCompile(`^[a-z0-9./-]+:(v?[0-9]+(\.[0-9]+)*|\$\{INDEXER_VERSION:-[0-9.]+\})$`).MatchString(s.Image) {
				t.Errorf("image %q names no version", s.Image)
			}
			for other := range s.DependsOn {
				if _, ok := c.Services[other]; !ok {
					t.Errorf("it depends on %s, which does not exist", other)
				}
			}
			for _, v := range s.Volumes {
				if from, _, _ := strings.Cut(v, ":"); !strings.HasPrefix(from, ".") {
					if _, ok := c.Volumes[from]; !ok {
						t.Errorf("there is no volume %s", from)
					}
				}
			}
			for _, secret := range s.Secrets {
				if _, ok := c.Secrets[secret]; !ok {
					t.Errorf("there is no secret %s", secret)
				}
			}
			if strings.HasPrefix(s.Image, "indexer:") {
				programs++
				wantSettings(t, s.Environment)
				wantCommand(t, append([]string{"--data", "/data"}, s.Command...)) // the entrypoint of packaging/Containerfile
			}
		})
	}
	if programs < 6 {
		t.Errorf("%d services run the program, want oracles, workers, a server and a loader", programs)
	}
}

// wantSettings: the variables are settings, with values that are allowed.
func wantSettings(t *testing.T, env map[string]string) {
	t.Helper()
	known := map[string]bool{"PGPASSWORD": true}
	for _, key := range config.Keys() {
		known[config.EnvPrefix+"_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = true
	}
	variable := regexp.MustCompile(`\$\{[A-Z_]+(:-([^}]*)|:\?[^}]*)\}`)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !known[name] {
			t.Errorf("%s is no setting", name)
		}
		t.Setenv(name, variable.ReplaceAllString(env[name], "$2"))
	}
	if _, err := config.Load(os.DevNull, nil); err != nil {
		t.Error(err)
	}
}

// wantCommand: the arguments are a command with flags that exist.
func wantCommand(t *testing.T, args []string) {
	t.Helper()
	var parsed *cobra.Command
	root := newApp(nil, nil, nil).rootCommand()
	visit(root, func(c *cobra.Command) {
		c.RunE = func(cmd *cobra.Command, _ []string) error { parsed = cmd; return nil }
		c.PersistentPreRunE = nil
	})
	root.SetArgs(args)
	if err := root.Execute(); err != nil || parsed == nil || parsed == root {
		t.Errorf("indexer %s: %v", strings.Join(args, " "), err)
	}
}

// TestComposeCertificates runs the commands of the compose file that make certificates, and
// then an oracle and a worker with them, by the settings of the file.
func TestComposeCertificates(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and two processes")
	}
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skipf("SKIPPED, the certificates of packaging/compose.yaml were not made: %v", err)
	}
	c := readCompose(t)
	tls := t.TempDir()
	commands := c.Services["certificates"].Command
	cmd := exec.Command(commands[0], commands[1:]...)
	// Only root may give a file away.
	cmd.Args[len(cmd.Args)-1] = strings.ReplaceAll(cmd.Args[len(cmd.Args)-1], "chown 65532", "test -s")
	cmd.Dir = tls
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(tls, "ca.key")); err == nil {
		t.Error("the authority's key is still there")
	}
	for _, name := range []string{"INDEXER_TLS_CERT", "INDEXER_TLS_KEY", "INDEXER_TLS_CA"} {
		t.Setenv(name, strings.Replace(c.Services["worker"].Environment[name], "/tls", tls, 1))
	}
	f := newFleet(t, setup{host: "localhost"}) // a name in the certificate
	stopChild(t, f.worker("one"))
}
