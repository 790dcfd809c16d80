/*
 * count.h - how many rows a table has.
 */
#ifndef SUPPORT_COUNT_H
#define SUPPORT_COUNT_H

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

#endif
