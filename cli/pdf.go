package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/webindexer/indexer/pdf"
	"github.com/webindexer/indexer/pdf/convert"
)

// readPDFs is the argument that makes the program a child of a pdf.Reader. It is not a command,
// because a child needs no settings, and starts faster without them.
const readPDFs = "read-pdfs"

// isPDFChild reports whether the program was started as a child.
func isPDFChild(args []string) bool { return slices.Equal(args, []string{readPDFs}) }

// runPDFChild reads documents for the process that started this one.
func runPDFChild(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
	// A service manager may send signals to the parent and its children alike. The parent
	// completes its work then, and ends its children.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := convert.Serve(ctx, stdin, stdout); err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return statusFailed
	}
	return statusDone
}

// pdfReader returns a reader that starts this program as a child.
func pdfReader() *pdf.Reader {
	return pdf.New(pdf.Options{Command: func() (*exec.Cmd, error) {
		program, err := thisProgram()
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(program, readPDFs)
		cmd.Args[0] = os.Args[0]
		// Of the environment it needs nothing. With one processor, a document in a loop could
		// keep it from noticing that its parent has ended.
		cmd.Env = []string{"GOMAXPROCS=2", "GOTRACEBACK=none"}
		return cmd, nil
	}})
}

// thisProgram returns the path of the running program. An upgrade may have replaced the file
// under its name.
func thisProgram() (string, error) {
	if running := "/proc/self/exe"; runtime.GOOS == "linux" {
		if _, err := os.Stat(running); err == nil {
			return running, nil
		}
	}
	return os.Executable()
}
