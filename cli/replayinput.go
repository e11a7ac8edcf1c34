package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/webindexer/indexer/warc"
)

// input is a file to replay.
type input struct {
	name    string
	size    int64     // -1 if it is not known
	regular bool      // reading it does not block
	stdin   io.Reader // instead of the file

	reader *warc.Reader // once it was opened
}

// sizeOf returns the size of all inputs together; -1 if that of one is not known.
func sizeOf(inputs []*input) (total int64) {
	for _, in := range inputs {
		if in.size < 0 {
			return -1
		}
		total += in.size
	}
	return total
}

// findInputs checks all files first, so that a mistyped name stops the command before it
// starts anything.
func findInputs(args []string, stdin io.Reader) ([]*input, error) {
	var inputs []*input
	seen := make(map[string]bool)
	for _, arg := range args {
		if seen[arg] {
			return nil, &usageError{reason: arg + " is named twice", help: "indexer replay"}
		}
		seen[arg] = true
		if arg == "-" {
			inputs = append(inputs, &input{name: "standard input", size: -1, stdin: stdin})
			continue
		}
		in, err := findFile(arg)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func findFile(path string) (*input, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, &inputError{what: path, reason: systemReason(err)}
	case info.IsDir():
		return nil, &inputError{what: path, reason: "is a directory; name the files in it"}
	case !info.Mode().IsRegular():
		return &input{name: path, size: -1}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &inputError{what: path, reason: systemReason(err)}
	}
	return &input{name: path, size: info.Size(), regular: true}, f.Close()
}

// systemReason returns the message of the operating system without the path.
func systemReason(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// open opens the input. When ctx ends, reading from anything but a regular file
// ends too.
func (in *input) open(ctx context.Context, opts warc.Options) (_ *warc.Reader, err error) {
	if in.regular {
		in.reader, err = warc.Open(in.name, opts)
		return in.reader, err
	}
	in.reader = warc.NewReader(interruptible(ctx, in.source), in.name, opts)
	return in.reader, nil
}

// noRecords returns an error if none of the files has a record. It reads up to the first
// record, so that nothing is opened to load nothing. Only with wait, it waits for the first
// record of pipes.
func noRecords(ctx context.Context, inputs []*input, wait bool) error {
	var empty []error
	for _, in := range inputs {
		if !in.regular && !wait {
			return nil
		}
		r, more, err := in.peek(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if more || !errors.Is(err, io.EOF) {
			return nil // replay reports an error
		}
		empty = append(empty, in.noRecord(r.Problems()...))
	}
	return errors.Join(empty...)
}

// mostPeeked is how much of a pipe is kept in search of its first record.
const mostPeeked = 1 << 20

// peek reads up to the first record. It returns a closed reader, and io.EOF if there is no record, or
// if there is more and none was found in the first mostPeeked bytes. The input can still be read
// completely.
func (in *input) peek(ctx context.Context) (r *warc.Reader, more bool, err error) {
	if in.regular {
		if r, err = warc.Open(in.name, warc.Options{}); err != nil {
			return nil, false, err
		}
		_, err = r.Next()
		return r, false, errors.Join(err, r.Close())
	}
	var read bytes.Buffer
	src := interruptible(ctx, in.source)
	r = warc.NewReader(io.TeeReader(io.LimitReader(src, mostPeeked), &read), in.name, warc.Options{})
	_, err = r.Next()
	err = errors.Join(err, r.Close())
	in.stdin = io.MultiReader(&read, src)
	return r, read.Len() == mostPeeked, err
}

// noRecord is the error for an input without records. It includes the first of the problems.
func (in *input) noRecord(problems ...warc.Problem) error {
	reason := "not a WARC file: it contains no record"
	if len(problems) > 0 {
		reason += " (" + problems[0].Reason + ")"
	}
	return &inputError{what: in.name, reason: reason}
}

// isEmpty reports, after reading, whether the input had no record.
func (in *input) isEmpty() bool {
	return in.reader != nil && len(in.reader.Stats().Records) == 0
}

func (in *input) source() (io.Reader, error) {
	if in.stdin != nil {
		return in.stdin, nil
	}
	return os.Open(in.name)
}

// interruptible reads from the result of open until ctx ends. Nothing can end a read(2)
// that waits for a terminal or for the other end of a pipe, so its goroutine is the only
// one in the program for which no owner waits. It stays in its read, holds nothing but its
// buffer, and ends with the process.
func interruptible(ctx context.Context, open func() (io.Reader, error)) *io.PipeReader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
	go func() {
		src, err := open()
		if err == nil {
			_, err = io.Copy(w, src)
		}
		if c, ok := src.(*os.File); ok && c != os.Stdin {
			_ = c.Close() // it was read only
		}
		if err != nil {
			err = fmt.Errorf("read: %w", err)
		}
		w.CloseWithError(err) // nil is io.EOF
	}()
	return r
}
