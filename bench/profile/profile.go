// Package profile reads profiles of the Go runtime and divides their samples among the
// parts of a program, by the functions on each stack.
package profile

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// Sample is a stack with what was measured there.
type Sample struct {
	Stack  []string // names of functions, the innermost first; inlined ones too
	Values []int64  // by type: of a processor profile the samples and nanoseconds
}

// The numbers of fields in profile.proto, which is the format of all profiles:
// https://github.com/google/pprof/blob/main/proto/profile.proto
const (
	profileSample, profileLocation, profileFunction, profileString = 2, 4, 5, 6

	sampleLocation, sampleValue = 1, 2
	locationID, locationLine    = 1, 4
	lineFunction                = 1
	functionID, functionName    = 1, 2
)

// Read reads a profile, as runtime/pprof writes it.
func Read(r io.Reader) ([]Sample, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	p := parser{lines: map[uint64][]uint64{}, names: map[uint64]uint64{}}
	if err := p.profile(data); err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	return p.resolve()
}

// parser gathers the tables of a profile. They refer to each other in any order.
type parser struct {
	samples []rawSample
	lines   map[uint64][]uint64 // location → functions, the innermost first
	names   map[uint64]uint64   // function → string
	strings []string
}

type rawSample struct {
	locations []uint64
	values    []int64
}

func (p *parser) profile(data []byte) error {
	return fields(data, func(num protowire.Number, _ uint64, data []byte) error {
		switch num {
		case profileString:
			p.strings = append(p.strings, string(data))
		case profileSample:
			return p.sample(data)
		case profileLocation:
			return p.location(data)
		case profileFunction:
			return p.function(data)
		}
		return nil
	})
}

func (p *parser) sample(data []byte) error {
	var s rawSample
	err := fields(data, func(num protowire.Number, v uint64, packed []byte) error {
		switch num {
		case sampleLocation:
			return numbers(v, packed, func(v uint64) { s.locations = append(s.locations, v) })
		case sampleValue:
			return numbers(v, packed, func(v uint64) { s.values = append(s.values, int64(v)) })
		}
		return nil
	})
	p.samples = append(p.samples, s)
	return err
}

func (p *parser) location(data []byte) error {
	var id uint64
	var functions []uint64
	err := fields(data, func(num protowire.Number, v uint64, line []byte) error {
		switch num {
		case locationID:
			id = v
		case locationLine:
			return fields(line, func(num protowire.Number, v uint64, _ []byte) error {
				if num == lineFunction {
					functions = append(functions, v)
				}
				return nil
			})
		}
		return nil
	})
	p.lines[id] = functions
	return err
}

func (p *parser) function(data []byte) error {
	var id, name uint64
	err := fields(data, func(num protowire.Number, v uint64, _ []byte) error {
		switch num {
		case functionID:
			id = v
		case functionName:
			name = v
		}
		return nil
	})
	p.names[id] = name
	return err
}

var errReference = errors.New("a name is missing")

func (p *parser) resolve() ([]Sample, error) {
	samples := make([]Sample, len(p.samples))
	for i, raw := range p.samples {
		s := Sample{Values: raw.values}
		for _, location := range raw.locations {
			for _, function := range p.lines[location] {
				name := p.names[function]
				if name >= uint64(len(p.strings)) {
					return nil, fmt.Errorf("read profile: %w", errReference)
				}
				s.Stack = append(s.Stack, p.strings[name])
			}
		}
		samples[i] = s
	}
	return samples, nil
}

// fields calls fn with each field of a message: with its number if it is one, or its
// bytes.
func fields(data []byte, fn func(num protowire.Number, v uint64, data []byte) error) error {
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		var v uint64
		var value []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(data)
		default:
			n = protowire.ConsumeFieldValue(num, typ, data)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if err := fn(num, v, value); err != nil {
			return err
		}
	}
	return nil
}

// numbers calls fn with the values of a repeated number, which may be packed.
func numbers(v uint64, packed []byte, fn func(uint64)) error {
	if packed == nil {
		fn(v)
		return nil
	}
	for len(packed) > 0 {
		v, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return protowire.ParseError(n)
		}
		fn(v)
		packed = packed[n:]
	}
	return nil
}
