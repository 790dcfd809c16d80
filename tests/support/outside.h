/*
 * outside.h - files that a test needs, and programs that it runs.
 */
#ifndef TESTS_OUTSIDE_H
#define TESTS_OUTSIDE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/** Writes a file anew; the test fails where that cannot be done. */
static inline void file_write(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "w");

    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, len, file), len);
    cr_assert_eq(fclose(file), 0);
}

/** Likewise a text. */
static inline void file_write_text(const char *path, const char *text)
{
    file_write(path, text, strlen(text));
}

/** Removes a folder with all that is in it, if it is there. */
static inline void folder_remove(const char *path)
{
    char line[4096];

    snprintf(line, sizeof line, "rm -rf '%s'", path);
    cr_expect_eq(system(line), 0, "%s", line);
}

/** Runs a line of the shell, and returns its exit status; `out` is what it prints, cut short. */
static inline int command_run(const char *line, char *out, size_t size)
{
    FILE *pipe = popen(line, "r"); /* NOLINT(cert-env33-c): the text is ours */
    int status;

    cr_assert_not_null(pipe, "%s", line);
    out[fread(out, 1, size - 1, pipe)] = '\0';
    status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

#endif
