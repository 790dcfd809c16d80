/*
 * input.c - reads a file to its end. The length is limited: a user who names a disk by mistake gets
 * an error instead of a long wait.
 */
#include "tools/common/input.h"

#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_MAX = 16 << 20 };

bool input_is_standard(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

const char *input_name(const char *path)
{
    return input_is_standard(path) ? "standard input" : path;
}

static int fail_of_system(const char *path)
{
    return fail_with(STATUS_USAGE, "%s: %s", input_name(path), strerror(errno));
}

int input_read(const char *path, struct mcpx_text *out)
{
    FILE *stream = input_is_standard(path) ? stdin : fopen(path, "re");
    int status = STATUS_OK;
    char bytes[65536];
    size_t len;

    if (!stream)
        return fail_of_system(path);
    while ((len = fread(bytes, 1, sizeof bytes, stream)) > 0 && out->len <= INPUT_MAX)
        mcpx_text_add(out, bytes, len);
    if (ferror(stream))
        status = fail_of_system(path);
    else if (out->len > INPUT_MAX)
        status = fail_with(STATUS_USAGE, "%s: longer than %d MiB", input_name(path),
                           INPUT_MAX >> 20);
    if (stream != stdin)
        fclose(stream);
    mx_utf8_skip_mark(out);
    return status;
}

int input_lines_open(const char *path, struct input_lines *lines)
{
    *lines = (struct input_lines){.path = path};
    lines->stream = input_is_standard(path) ? stdin : fopen(path, "re");
    return lines->stream ? STATUS_OK : fail_of_system(path);
}

bool input_lines_next(struct input_lines *lines, struct mcpx_slice *line)
{
    ssize_t len = getline(&lines->line, &lines->room, lines->stream);

    if (len < 0) {
        lines->error = feof(lines->stream) && !ferror(lines->stream) ? 0 : errno;
        return false;
    }
    *line = (struct mcpx_slice){lines->line, (size_t)len};
    line->len -= len > 0 && lines->line[len - 1] == '\n';
    return true;
}

int input_lines_close(struct input_lines *lines)
{
    free(lines->line);
    if (lines->stream && lines->stream != stdin)
        fclose(lines->stream);
    errno = lines->error;
    return lines->error ? fail_of_system(lines->path) : STATUS_OK;
}

int input_replace(const char *path, struct mcpx_slice text, unsigned mode)
{
    mx_scoped_text beside = {0};
    FILE *stream;
    int fd, cause = 0;

    mx_format(&beside, "%s.XXXXXX", path);
    fd = mkstemp(beside.text);
    stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!stream || fwrite(text.text, 1, text.len, stream) != text.len || fflush(stream) != 0 ||
        fchmod(fd, mode) != 0 || fsync(fd) != 0)
        cause = errno;
    if ((stream ? fclose(stream) : fd >= 0 ? close(fd) : 0) != 0 && !cause)
        cause = errno;
    if (!cause && rename(beside.text, path) != 0)
        cause = errno;
    if (fd >= 0 && cause)
        unlink(beside.text);
    return cause ? fail_with(STATUS_FAILED, "%s cannot be written: %s", path, strerror(cause))
                 : STATUS_OK;
}
