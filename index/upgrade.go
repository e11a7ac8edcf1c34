package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// Files of an older format are brought up to date by the first writer that opens
// them. All of it is one transaction, at whose end the analyzer version is 0: texts
// are stored, so that [Writer.Rebuild] can make the full-text entries anew. A process killed
// here leaves the old format, or the new one with a rebuild to be done.
//
// Format 1 did not tell anchors of other sites from those of the own site. What was
// stored counts as the own site's until the document is exported again.

// upgrade brings the open database up to FormatVersion.
func upgrade(ctx context.Context, db *sql.DB) error {
	format, err := formatOf(ctx, db)
	if err != nil || format >= FormatVersion {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, step := range []string{
		"DROP TABLE fts", fullTextSQL, spellingSQL,
		"UPDATE meta SET value='0' WHERE key='" + metaAnalyzer + "'",
		"PRAGMA user_version=" + strconv.Itoa(FormatVersion),
	} {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return errors.Join(fmt.Errorf("bring format %d up to %d: %w", format, FormatVersion, err), tx.Rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("bring format %d up to %d: %w", format, FormatVersion, err)
	}
	return nil
}

// formatOf is the format version as the newest state of the database has it; the header of
// the file may be older, while the change is in the log.
func formatOf(ctx context.Context, q querier) (format int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&format)
	return format, err
}
