package pdf

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// Converter turns documents into HTML. An error of type Unreadable is the document's; after
// any other the converter is not used again.
type Converter func(body []byte) (html []byte, err error)

// Serve is the whole work of a child: it starts a converter, reads documents from the parent
// until that ends, and writes the results. It limits the resources of its process.
func Serve(parent io.Reader, answers io.Writer, start func() (Converter, error)) error {
	if err := limitProcess(); err != nil {
		return fail(answers, err)
	}
	convert, err := start()
	if err != nil {
		return fail(answers, err)
	}
	debug.FreeOSMemory() // what starting needed
	return serve(parent, answers, convert)
}

func fail(answers io.Writer, err error) error {
	return errors.Join(err, writeMessage(answers, kindFailed, []byte(err.Error())))
}

// serve answers the parent. It returns once the parent has ended, even in the middle of a
// document that takes for ever: the goroutine that reads it ends with the process.
func serve(parent io.Reader, answers io.Writer, convert Converter) error {
	if err := writeMessage(answers, kindReady, nil); err != nil {
		return err
	}
	documents, ended := make(chan []byte), make(chan error, 1)
	go func() { ended <- readDocuments(parent, documents) }()
	for {
		select {
		case err := <-ended:
			return err
		case body := <-documents:
			done := make(chan error, 1)
			go func() { done <- answer(answers, body, convert) }()
			select {
			case err := <-done:
				if err != nil {
					return err
				}
			case err := <-ended:
				return err
			}
		}
	}
}

// readDocuments reads documents until the parent ends. The next one is sent after the one
// before it is answered, so an end in between is noticed at once.
func readDocuments(parent io.Reader, documents chan<- []byte) error {
	for {
		k, body, err := readMessage(parent, usual.body)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case k != kindDocument:
			return fmt.Errorf("%w: kind %q", errMessage, k)
		}
		documents <- body
	}
}

func answer(answers io.Writer, body []byte, convert Converter) error {
	html, err := convert(body)
	if err == nil && len(html) > usual.result {
		err = Unreadable("the text of the document is too long")
	}
	if _, ok := errors.AsType[Unreadable](err); ok {
		return writeMessage(answers, kindUnreadable, []byte(err.Error()))
	}
	if err != nil {
		return fail(answers, err)
	}
	return writeMessage(answers, kindHTML, html)
}
