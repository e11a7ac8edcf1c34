package cli

import (
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
	stdin   io.Reader // instead of a file

	reader *warc.Reader // once it was opened
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

// noRecords returns an error if none of the files has a record. It reads only regular files,
// up to the first record, so that nothing is opened to load nothing.
func noRecords(inputs []*input) error {
	var empty []error
	for _, in := range inputs {
		if !in.regular {
			return nil
		}
		r, err := warc.Open(in.name, warc.Options{})
		if err != nil {
			return nil // replay reports it
		}
		_, err = r.Next()
		if err := errors.Join(err, r.Close()); !errors.Is(err, io.EOF) {
			return nil
		}
		empty = append(empty, in.noRecord(r.Problems()...))
	}
	return errors.Join(empty...)
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
