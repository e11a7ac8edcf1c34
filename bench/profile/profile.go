// Package profile reads profiles of the Go runtime and divides their samples among the
// parts of a program, by the functions on each stack.
package profile

import (
	"fmt"
	"io"

	"github.com/google/pprof/profile"
)

// Sample is a stack with what was measured there.
type Sample struct {
	Stack  []string // names of functions, the innermost first; inlined ones too
	Values []int64  // by type: of a processor profile the samples and nanoseconds
}

// Read reads a profile, as runtime/pprof writes it.
func Read(r io.Reader) ([]Sample, error) {
	p, err := profile.Parse(r)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	samples := make([]Sample, len(p.Sample))
	for i, s := range p.Sample {
		samples[i] = Sample{Stack: stack(s.Location), Values: s.Value}
	}
	return samples, nil
}

// stack returns the functions at the locations of a stack.
func stack(locations []*profile.Location) (names []string) {
	for _, location := range locations {
		for _, line := range location.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
	}
	return names
}
