/*
 * audit_reader.c - a line at a time, of whatever length: what is read may be damaged, and a bound
 * would be one more thing to tell from damage. The last line of a folder that is being written to
 * may be there in part; it is waited for.
 */
#include "router/store/audit/audit_verify.h"

#include "lib/edge/file.h"
#include "router/store/audit/audit_chain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* How often, and after how many milliseconds each, to look for the rest of a line. */
enum { LOOKS = 20, LOOK_MS = 50 };

enum mcpx_err audit_reader_open(const char *path, struct audit_reader *out)
{
    enum mcpx_err err;

    *out = (struct audit_reader){.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (out->dir < 0)
        return MCPX_ESYSTEM;
    err = audit_folder_list(out->dir, &out->seqs, &out->count);
    return !err && out->count == 0 ? MCPX_ENOTFOUND : err;
}

static bool open_next(struct audit_reader *reader)
{
    char name[AUDIT_NAME_ROOM];
    const char *why;
    int file;

    audit_file_name(reader->seqs[reader->at], name);
    file = mx_file_open(reader->dir, name, &why);
    if (file >= 0)
        reader->stream = fdopen(file, "r");
    reader->row = 0;
    if (reader->stream)
        return true;
    reader->error = errno;
    if (file >= 0)
        (void)close(file);
    return false;
}

/* Waits for the rest of a line that is being written. Gives its length. */
static size_t complete(struct audit_reader *reader, size_t len)
{
    char *rest = NULL;
    size_t room = 0;

    for (int i = 0; i < LOOKS && reader->line[len - 1] != '\n'; i++) {
        ssize_t more;
        char *grown;

        (void)poll(NULL, 0, LOOK_MS);
        clearerr(reader->stream);
        more = getline(&rest, &room, reader->stream);
        grown = more > 0 ? realloc(reader->line, len + (size_t)more + 1) : NULL;
        if (!grown)
            continue;
        memcpy(grown + len, rest, (size_t)more + 1);
        reader->line = grown;
        reader->room = len + (size_t)more + 1;
        len += (size_t)more;
    }
    free(rest);
    return len;
}

static void close_file(struct audit_reader *reader)
{
    if (reader->stream)
        (void)fclose(reader->stream);
    reader->stream = NULL;
}

static bool read_line(struct audit_reader *reader, struct audit_row *out)
{
    ssize_t got = getline(&reader->line, &reader->room, reader->stream);
    size_t len = got > 0 ? (size_t)got : 0;
    bool ended;

    if (len == 0) {
        reader->error = ferror(reader->stream) ? errno : 0;
        return false;
    }
    if (reader->line[len - 1] != '\n' && reader->at + 1 == reader->count)
        len = complete(reader, len);
    ended = reader->line[len - 1] == '\n';
    *out = (struct audit_row){.text = {reader->line, len - ended},
                              .ended = ended,
                              .file = reader->at,
                              .row = ++reader->row,
                              .named = reader->seqs[reader->at]};
    return true;
}

bool audit_reader_next(struct audit_reader *reader, struct audit_row *out)
{
    while (reader->at < reader->count && !reader->error) {
        if (!reader->stream && !open_next(reader))
            return false;
        if (read_line(reader, out))
            return true;
        close_file(reader);
        reader->at++;
    }
    return false;
}

static bool next(void *context, struct audit_row *out)
{
    return audit_reader_next(context, out);
}

struct audit_rows audit_reader_rows(struct audit_reader *reader)
{
    return (struct audit_rows){next, reader};
}

void audit_reader_close(struct audit_reader *reader)
{
    close_file(reader);
    if (reader->dir >= 0)
        (void)close(reader->dir);
    free(reader->seqs);
    free(reader->line);
}
