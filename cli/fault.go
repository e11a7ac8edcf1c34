package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/fault"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
)

// afterFault is the command that replaces the process when a page of a mapped file cannot
// be written or read (package fault). It has no other use and is not in the help.
const afterFault = "after-fault"

var errFault = errors.New("a file below the data directory could not be written or read")

// prepareForFaults makes a fault replace this process by afterFault.
func (a *app) prepareForFaults() error {
	if !a.process {
		return nil
	}
	// afterFault needs no settings of the file, which may be a pipe that has been read.
	args := []string{os.Args[0], afterFault, "--config", os.DevNull, "--data", a.cfg.Data, "--format", a.cfg.Format}
	return fault.Arm("/proc/self/exe", args, os.Environ())
}

func (a *app) afterFaultCommand() *cobra.Command {
	return &cobra.Command{
		Use:    afterFault,
		Short:  "Report why the process that this one replaces has ended",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			free, err := badgerdb.FreeBytes(a.cfg.Data)
			switch {
			case err != nil:
				return fmt.Errorf("%w: %w", errFault, err)
			case free < badgerdb.DefaultMinFreeBytes:
				return fmt.Errorf("%w: %d MiB free at %s, and a page of a file could not be written", store.ErrNoSpace, free>>20, a.cfg.Data)
			}
			return fmt.Errorf("%w, although there is space: a file in %s was truncated, or the disk has failed", errFault, a.cfg.Data)
		},
	}
}
