/*
 * rows.c - reads a file line by line; a row is judged when the next one begins.
 */
#include "tests/support/rows.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    char *columns[ROW_COLUMNS];
    size_t count;
};

static void add_column(struct row *row, const char *text)
{
    cr_assert_lt(row->count, ROW_COLUMNS, "%s", text);
    if (strcmp(text, "(none)") != 0)
        row->columns[row->count] = strdup(strcmp(text, "(nothing)") == 0 ? "" : text);
    row->count++;
}

/* Returns how many rows were judged: one or none. */
static size_t finish(struct row *row, row_judge *judge)
{
    size_t judged = row->count > 0;

    if (judged)
        judge(row->columns);
    for (size_t i = 0; i < ROW_COLUMNS; i++)
        free(row->columns[i]);
    *row = (struct row){.count = 0};
    return judged;
}

void rows_each(const char *file, const char *group, row_judge *judge)
{
    char path[4096], *line = NULL;
    struct row row = {.count = 0};
    size_t size = 0, judged = 0;
    bool is_here = false;
    FILE *in;

    snprintf(path, sizeof path, "%s/tests/unit/%s.txt", getenv("MCPX_SOURCE_DIR"), file);
    in = fopen(path, "r");
    cr_assert_not_null(in, "no rows: %s", path);
    while (getline(&line, &size, in) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (row.count > 0 && strncmp(line, "  ", 2) == 0) {
            add_column(&row, line + 2);
            continue;
        }
        judged += finish(&row, judge);
        if (strncmp(line, "== ", 3) == 0)
            is_here = strcmp(line + 3, group) == 0;
        else if (is_here && *line && *line != '#')
            add_column(&row, line);
    }
    judged += finish(&row, judge);
    cr_assert_gt(judged, 0, "no rows: %s", group);
    free(line);
    fclose(in);
}
