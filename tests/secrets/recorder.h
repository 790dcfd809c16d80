/*
 * recorder.h - what is kept of a program under test, and which texts in it are secrets.
 */
#ifndef SECRETS_RECORDER_H
#define SECRETS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

struct bytes {
    const char *text;
    size_t len;
};

/** True in a program of ours, when MCPX_SECRETS names a folder. */
bool recorder_is_on(void);

/**
 * Keeps what the program wrote.
 *
 * stream   where to: see recorder.c
 *
 * Nothing is kept beyond 64 MiB of a stream, or where a limit of the size of files would be passed.
 * errno stays what it was. So it does in all these functions.
 */
void recorder_keep(const char *stream, const void *bytes, size_t len);

/** What a socket received: notes tokens and tickets, when it begins with an HTTP request. */
void recorder_received(struct bytes in);

/** What a socket is sent: keeps answers and errors, notes tokens and tickets that are given. */
void recorder_sent(struct bytes in);

/**
 * The router opened a file: notes the keys in it, if it is a text.
 *
 * may_be_a_line   it was opened by fopen or with O_NONBLOCK, as the router reads what its
 *                 configuration names: then a file of one line is a key
 */
void recorder_opened(int fd, bool may_be_a_line);

/** Keeps command line and environment of a child. Both end with NULL, or are NULL. */
void recorder_child(char *const argv[], char *const envp[]);

#endif
