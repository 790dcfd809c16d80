/*
 * rows.h - rows of tests that are JSON, in files where nothing has to be escaped:
 *
 *     == the group of the rows that follow
 *     # a comment
 *     the first column of a row
 *       the others, each on a line with two spaces before it
 *
 * A column that says (nothing) is empty, and one that says (none) is NULL.
 */
#ifndef TEST_ROWS_H
#define TEST_ROWS_H

enum { ROW_COLUMNS = 3 };

/** Judges a row. Columns that it does not have are NULL. */
typedef void row_judge(char *const columns[ROW_COLUMNS]);

/**
 * Lets all rows of a group be judged, in order. Fails the test when there are none.
 *
 * file   such as "core/rows/rpc"
 */
void rows_each(const char *file, const char *group, row_judge *judge);

#endif
