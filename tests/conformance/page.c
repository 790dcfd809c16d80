/*
 * page.c - reads the page anew for each table, because cutting cells writes into the text.
 */
#include "tests/conformance/page.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX = 262144 };

static char *read_page(const char *name)
{
    static char text[PAGE_MAX];
    char path[4096];
    FILE *file;
    size_t len;

    snprintf(path, sizeof path, "%s/%s", getenv("MCPX_SOURCE_DIR"), name);
    file = fopen(path, "r");
    cr_assert_not_null(file, "%s cannot be read", path);
    len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    cr_assert_lt(len, sizeof text - 1, "%s has outgrown this test", path);
    text[len] = '\0';
    return text;
}

char *page_rows_of(const char *head)
{
    return page_rows_in("docs/protocol.md", head);
}

char *page_rows_in(const char *page, const char *head)
{
    char *at = strstr(read_page(page), head);

    cr_assert_not_null(at, "%s has no table '%s'", page, head);
    at = strstr(at, "\n|---");
    cr_assert_not_null(at, "the table '%s' has no rule under its head", head);
    at = strchr(at + 1, '\n');
    cr_assert_not_null(at);
    return at + 1;
}

size_t page_next_row(char **rest, char *cells[PAGE_CELLS])
{
    char *line = *rest;
    char *end = strchr(line, '\n');
    size_t count = 0;

    if (line[0] != '|' || !end)
        return 0;
    *end = '\0';
    *rest = end + 1;
    for (char *cell = line + 1; *cell && count < PAGE_CELLS; count++) {
        char *bar = strchr(cell, '|');

        cr_assert_not_null(bar, "a row without its last bar: %s", line);
        *bar = '\0';
        cells[count] = cell;
        cell = bar + 1;
    }
    return count;
}

char *page_next_code(char **cell)
{
    char *begin = strchr(*cell, '`');
    char *end = begin ? strchr(begin + 1, '`') : NULL;

    if (!end)
        return NULL;
    *end = '\0';
    *cell = end + 1;
    return begin + 1;
}
