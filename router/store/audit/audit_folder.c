/*
 * audit_folder.c - append-only files with mode 0600. The lock is flock(2) on the folder itself: no
 * lock file lies among the files that auditors copy. When a file does not take a whole batch, its
 * part is cut off again, so files hold whole batches. A torn line at the end is from a crash, and
 * was never synced.
 */
#define _GNU_SOURCE /* memrchr */
#include "router/store/audit/audit_chain.h"

#include "lib/base/digits.h"
#include "lib/base/rows.h"
#include "lib/edge/file.h"
#include "lib/json/json_write.h"
#include "router/store/audit/audit_verify.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAIL_FIRST = 1 << 16 };

void audit_file_name(uint64_t seq, char out[AUDIT_NAME_ROOM])
{
    (void)snprintf(out, AUDIT_NAME_ROOM, "audit-%" PRIu64 ".jsonl", seq);
}

/* The number in a file's name; 0 for the name of another file. */
static uint64_t seq_of(const char *name)
{
    char again[AUDIT_NAME_ROOM];
    const char *end = strchr(name, '.');
    uint64_t seq = 0;

    if (strncmp(name, "audit-", 6) != 0 || !end ||
        !mx_decimal_read((struct mcpx_slice){name + 6, (size_t)(end - name - 6)}, INT64_MAX,
                         &seq))
        return 0;
    audit_file_name(seq, again);
    return strcmp(name, again) == 0 ? seq : 0;
}

static int ascending(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return (first > second) - (first < second);
}

enum mcpx_err audit_folder_list(int folder, uint64_t **out, size_t *count)
{
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = own >= 0 ? fdopendir(own) : NULL;
    const struct dirent *entry;
    enum mcpx_err err = MCPX_OK;
    size_t room = 0;

    *out = NULL;
    *count = 0;
    if (!stream) {
        if (own >= 0)
            (void)close(own);
        return MCPX_ESYSTEM;
    }
    while (!err && (entry = readdir(stream)) != NULL) {
        uint64_t seq = seq_of(entry->d_name);

        if (seq != 0 && !mx_make_room(out, *count, &room, sizeof **out))
            err = MCPX_ENOMEM;
        else if (seq != 0)
            (*out)[(*count)++] = seq;
    }
    (void)closedir(stream);
    if (err) {
        free(*out);
        *out = NULL;
        *count = 0;
    } else if (*count > 0) {
        qsort(*out, *count, sizeof **out, ascending);
    }
    return err;
}

static enum mcpx_err complain(struct audit_folder *folder, struct mcpx_text *errors,
                              const char *file, const char *what)
{
    mx_format(errors, "audit.folder %q: %s%s%s\n", folder->path, file, *file ? ": " : "",
              what);
    return errors->failed ? MCPX_ENOMEM : MCPX_ESYSTEM;
}

static enum mcpx_err open_dir(struct audit_folder *folder, struct mcpx_text *errors)
{
    bool made = mkdir(folder->path, 0700) == 0;

    if (!made && errno != EEXIST)
        return complain(folder, errors, "", strerror(errno));
    folder->dir = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->dir < 0 || (made && !mx_folder_sync(folder->dir, "..")))
        return complain(folder, errors, "", strerror(errno));
    if (flock(folder->dir, LOCK_EX | LOCK_NB) == 0)
        return MCPX_OK;
    if (errno != EWOULDBLOCK)
        return complain(folder, errors, "", strerror(errno));
    (void)complain(folder, errors, "", "is in use by another router; stop that one first");
    return MCPX_ECONFIG;
}

static int open_file(const struct audit_folder *folder, uint64_t seq, int flags, char *name)
{
    audit_file_name(seq, name);
    return openat(folder->dir, name, flags | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                  0600);
}

static bool read_tail(int file, uint64_t size, size_t len, struct mcpx_text *out)
{
    mcpx_text_reset(out);
    if (!mcpx_text_reserve(out, len)) {
        errno = ENOMEM;
        return false;
    }
    while (out->len < len) {
        ssize_t got =
            pread(file, out->text + out->len, len - out->len, (off_t)(size - len + out->len));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        out->len += (size_t)got;
    }
    return true;
}

/* Finds the last whole line of `tail`. False: the line may begin before it, so read more. */
static bool last_line(struct mcpx_slice tail, bool all, struct mcpx_slice *line)
{
    const char *end = tail.len ? memrchr(tail.text, '\n', tail.len) : NULL;
    const char *begin = end ? memrchr(tail.text, '\n', (size_t)(end - tail.text)) : NULL;

    if (!begin && !all)
        return false;
    begin = begin ? begin + 1 : tail.text;
    *line = end ? (struct mcpx_slice){begin, (size_t)(end - begin)} : (struct mcpx_slice){0};
    return true;
}

/* The last whole line of a file, in `tail`; `torn` bytes follow it. False, with errno. */
static bool read_end(int file, uint64_t size, struct mcpx_text *tail, struct mcpx_slice *line,
                     uint64_t *torn)
{
    uint64_t len = size < TAIL_FIRST ? size : TAIL_FIRST;

    for (;;) {
        if (!read_tail(file, size, (size_t)len, tail))
            return false;
        if (last_line(mcpx_text_view(tail), len == size, line))
            break;
        len = size < len * 2 ? size : len * 2;
    }
    *torn =
        line->text ? (uint64_t)(tail->text + tail->len - (line->text + line->len + 1)) : len;
    return true;
}

/* Continues the chain after the last line of a file; `torn` bytes follow that line. */
static enum mcpx_err follow(struct audit_folder *folder, uint64_t seq,
                            struct mcpx_text *errors, struct audit_chain *chain,
                            uint64_t *torn)
{
    char name[AUDIT_NAME_ROOM];
    struct mcpx_text tail = {0};
    struct mcpx_slice line = {0};
    struct stat about;
    enum mcpx_err err = MCPX_OK;

    folder->file = open_file(folder, seq, O_RDWR, name);
    if (folder->file < 0 || fstat(folder->file, &about) != 0)
        return complain(folder, errors, name, strerror(errno));
    folder->size = (uint64_t)about.st_size;
    if (!S_ISREG(about.st_mode))
        return complain(folder, errors, name, "is not a file");
    if (!read_end(folder->file, folder->size, &tail, &line, torn))
        err = complain(folder, errors, name, strerror(errno));
    else if (line.text)
        err = audit_chain_continue(chain, (struct mcpx_slice){line.text, line.len + 1});
    mcpx_text_fini(&tail);
    if (err == MCPX_EINVALID) {
        (void)complain(
            folder, errors, name,
            "ends with bytes that are not a line of an audit; \"mcpxctl audit verify\" says "
            "where it was damaged; keep the folder and name another one");
        err = MCPX_ECONFIG;
    }
    return err;
}

static bool cut_off(struct audit_folder *folder, uint64_t torn)
{
    folder->size -= torn;
    return torn == 0 ||
           (ftruncate(folder->file, (off_t)folder->size) == 0 && fdatasync(folder->file) == 0);
}

/* Continues the chain. A newest file without a line continues the file before it. */
static enum mcpx_err go_on(struct audit_folder *folder, const uint64_t *seqs, size_t count,
                           struct mcpx_text *errors, struct audit_chain *chain, uint64_t *cut)
{
    uint64_t newest = seqs[count - 1], torn = 0, ignored;
    enum mcpx_err err = follow(folder, newest, errors, chain, &torn);
    int file = folder->file;
    uint64_t size = folder->size;

    if (!err && torn == size && count > 1) {
        err = follow(folder, seqs[count - 2], errors, chain, &ignored);
        if (folder->file >= 0 && folder->file != file)
            (void)close(folder->file);
        folder->file = file;
        folder->size = size;
    }
    if (err)
        return err;
    if (torn == size && chain->seq != newest) {
        (void)complain(folder, errors, "",
                       "its newest file has no line, and the one before it does not lead "
                       "there; put that one back, or keep the folder and name another one");
        return MCPX_ECONFIG;
    }
    *cut = torn;
    if (!cut_off(folder, torn))
        return complain(folder, errors, "cutting a torn line off", strerror(errno));
    return MCPX_OK;
}

static void add_sizes(struct audit_folder *folder, const uint64_t *seqs, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        char name[AUDIT_NAME_ROOM];
        struct stat about;

        audit_file_name(seqs[i], name);
        if (fstatat(folder->dir, name, &about, AT_SYMLINK_NOFOLLOW) == 0)
            folder->before += (uint64_t)about.st_size;
    }
}

enum mcpx_err audit_folder_open(const char *path, struct mcpx_text *errors,
                                struct audit_folder *out, struct audit_chain *chain,
                                uint64_t *cut)
{
    uint64_t *seqs = NULL;
    size_t count = 0;
    enum mcpx_err err;

    *out = (struct audit_folder){.path = path, .dir = -1, .file = -1};
    audit_chain_begin(chain);
    err = open_dir(out, errors);
    if (err)
        return err;
    err = audit_folder_list(out->dir, &seqs, &count);
    if (err == MCPX_ESYSTEM)
        err = complain(out, errors, "", strerror(errno));
    if (!err && count > 0)
        err = go_on(out, seqs, count, errors, chain, cut);
    else if (!err && !audit_folder_rotate(out, chain->seq))
        err = complain(out, errors, "making a file", strerror(errno));
    add_sizes(out, seqs, count);
    free(seqs);
    return err;
}

static bool write_all(int file, struct mcpx_slice text)
{
    while (text.len > 0) {
        ssize_t done = write(file, text.text, text.len);

        if (done == 0)
            errno = ENOSPC;
        if (done > 0)
            text = mx_behind(text, (size_t)done);
        else if (errno != EINTR)
            return false;
    }
    return true;
}

static bool is_shortage(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

enum audit_written audit_folder_write(struct audit_folder *folder, struct mcpx_slice text)
{
    enum audit_written failed;
    int why;

    if (write_all(folder->file, text)) {
        if (fdatasync(folder->file) != 0)
            return AUDIT_BROKEN;
        folder->size += text.len;
        return AUDIT_WRITTEN;
    }
    why = errno;
    failed = is_shortage(why) && ftruncate(folder->file, (off_t)folder->size) == 0
                 ? AUDIT_NO_ROOM
                 : AUDIT_BROKEN;
    errno = why;
    return failed;
}

bool audit_folder_rotate(struct audit_folder *folder, uint64_t seq)
{
    char name[AUDIT_NAME_ROOM];
    int file = open_file(folder, seq, O_RDWR | O_CREAT | O_EXCL, name);

    if (file < 0)
        return false;
    if (fsync(folder->dir) != 0) {
        (void)close(file);
        (void)unlinkat(folder->dir, name, 0);
        return false;
    }
    if (folder->file >= 0)
        (void)close(folder->file);
    folder->before += folder->size;
    folder->file = file;
    folder->size = 0;
    return true;
}

void audit_folder_close(struct audit_folder *folder)
{
    if (folder->file >= 0)
        (void)close(folder->file);
    if (folder->dir >= 0)
        (void)close(folder->dir);
}

/*
 * ---- reading, line by line. A line may have any length: it may be damaged, and a limit would be
 * one more case to tell from damage. The last line of a folder in use may be incomplete; the reader
 * waits for the rest.
 */

/* Attempts to read the rest of a line, and milliseconds before each. */
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

/* Waits for the rest of a line that is being written. Returns its length. */
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

bool audit_reader_next(void *context, struct audit_row *out)
{
    struct audit_reader *reader = context;

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

void audit_reader_close(struct audit_reader *reader)
{
    close_file(reader);
    if (reader->dir >= 0)
        (void)close(reader->dir);
    free(reader->seqs);
    free(reader->line);
}
