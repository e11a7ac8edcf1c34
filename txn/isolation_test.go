package txn

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestIsolation runs the scenarios of testdata/isolation.txt; its head has the
// commands. TestHermitage does the same with the suite outside the project.
func TestIsolation(t *testing.T) {
	text, err := os.ReadFile("testdata/isolation.txt")
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := parseScenarios(string(text))
	if err != nil || len(scenarios) < 20 {
		t.Fatalf("%d scenarios, %v", len(scenarios), err)
	}
	eachMode(t, func(t *testing.T, e engine, mode Mode) {
		for _, s := range scenarios {
			t.Run(s.Name, func(t *testing.T) {
				table := e.open(t, Groups("app"))
				defer closeTable(t, table)
				s.run(t, open(t, table, Options{Mode: mode}))
			})
		}
	})
}

func parseScenarios(text string) (list []hermitageScenario, err error) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if f[0] == "scenario" {
			list = append(list, hermitageScenario{Name: f[1]})
			continue
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("%q before a scenario", line)
		}
		s := &list[len(list)-1]
		switch f[0] {
		case "init":
			s.Init, err = parsePairs(f[1:])
		case "final":
			s.Final, err = parsePairs(f[1:])
		default:
			var step []json.RawMessage
			step, err = parseStep(f)
			s.Steps = append(s.Steps, step)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", s.Name, line, err)
		}
	}
	return list, nil
}

func parsePairs(fields []string) (map[string]int, error) {
	pairs := make(map[string]int)
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil, err
		}
		pairs[key] = n
	}
	return pairs, nil
}

// parseStep parses a step in the notation of the suite outside the project.
func parseStep(f []string) (step []json.RawMessage, err error) {
	if len(f) < 2 {
		return nil, fmt.Errorf("no command")
	}
	parts := []any{f[0], f[1]}
	number := func(s string) (any, error) {
		if s == "none" {
			return nil, nil
		}
		return strconv.Atoi(s)
	}
	switch {
	case f[1] == "scan":
		pairs, err := parsePairs(f[2:])
		if err != nil {
			return nil, err
		}
		parts = append(parts, pairs)
	case len(f) == 4:
		n, err := number(f[3])
		if err != nil {
			return nil, err
		}
		parts = []any{f[0], map[string]string{"get": "r", "lock": "lock", "set": "w"}[f[1]], f[2], n}
	case f[1] == "delete" && len(f) == 3:
		parts = []any{f[0], "del", f[2]}
	case len(f) == 3:
		parts = append(parts, f[2])
	}
	for _, p := range parts {
		raw, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		step = append(step, raw)
	}
	return step, nil
}
