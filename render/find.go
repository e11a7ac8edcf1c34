package render

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ErrNoBrowser says that there is no browser.
var ErrNoBrowser = errors.New("no Chromium found: install the package chromium, or name the program with the setting browser")

var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// Find returns the path of the named browser or, if name is empty, of a Chromium in the search
// path. The error is ErrNoBrowser if there is none.
func Find(name string) (string, error) {
	if name != "" {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("the browser %q cannot be run: %w", name, err)
		}
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBrowser
}

// Sandboxed reports whether a browser that this process starts runs in its sandbox. Chromium
// has none for root.
func Sandboxed() bool { return os.Geteuid() != 0 }
