/*
 * page.h - the tables of pages of the documentation as test data.
 */
#ifndef TEST_PAGE_H
#define TEST_PAGE_H

#include <stddef.h>

enum { PAGE_CELLS = 5 };

/**
 * The first row of the table under this head line, in a page such as "docs/contracts.md"; lent
 * until the next call. Fails the test when there is no such table.
 */
char *page_rows_in(const char *page, const char *head);

/** The same in docs/protocol.md. */
char *page_rows_of(const char *head);

/** Cuts the next row of a table into its cells. Returns how many; 0 at the end of the table. */
size_t page_next_row(char **rest, char *cells[PAGE_CELLS]);

/** Cuts the next `code` out of a cell; NULL when there is none. */
char *page_next_code(char **cell);

#endif
