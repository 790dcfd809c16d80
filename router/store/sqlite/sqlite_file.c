/*
 * sqlite_file.c - a new database is made beside its place and then moved there. So a file at
 * `store.file` is whole: an empty one is a mistake or damage, never an unfinished database of ours.
 * A foreign file is not even opened by SQLite.
 *
 * A lock of fcntl(2) ends with its process and names its holder. Rejected: SQLite's own locks,
 * because other programs may read and copy the database while the router runs.
 */
#include "router/store/sqlite/sqlite_schema.h"

#include "lib/base/scoped.h"
#include "lib/edge/file.h"
#include "lib/json/json_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static enum mcpx_err tell(struct mcpx_text *errors, const char *file, const char *found,
                          const char *remedy)
{
    mx_format(errors, "store.file %q %s; %s\n", file, found, remedy);
    return MCPX_ECONFIG;
}

/*
 * Offsets of the members that we read in the header of a SQLite database. PAGES is valid while the
 * numbers at CHANGES and PAGES_OF are equal.
 */
enum {
    HEADER_BYTES = 100,
    PAGE_SIZE_AT = 16,
    AHEAD_AT = 18,
    FRACTIONS_AT = 21,
    CHANGES_AT = 24,
    PAGES_AT = 28,
    VERSION_AT = 60,
    ID_AT = 68,
    PAGES_OF_AT = 92
};

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           bytes[3];
}

/* Returns the bytes of a page; 0 for an impossible size. */
static uint64_t page_size(const unsigned char *header)
{
    uint64_t size = (uint64_t)header[PAGE_SIZE_AT] << 8 | header[PAGE_SIZE_AT + 1];

    if (size == 1)
        return 65536; /* too large for two bytes */
    return size >= 512 && (size & (size - 1)) == 0 ? size : 0;
}

static bool is_sqlite(const unsigned char *header, size_t len)
{
    return len >= HEADER_BYTES && memcmp(header, "SQLite format 3", 16) == 0 &&
           memcmp(header + FRACTIONS_AT, "\100\040\040", 3) == 0 && page_size(header) > 0;
}

/*
 * Checks the file's length; its WAL may hold pages that it lacks. A backup has no WAL: one beside
 * it belongs to the former database, and SQLite would write it over the backup.
 */
static enum mcpx_err examine_size(const char *file, const unsigned char *header, uint64_t size,
                                  struct mcpx_text *errors)
{
    uint64_t wanted = big_endian(header + PAGES_AT) * page_size(header);
    mx_scoped_text ahead = mx_formatted("%s-wal", file);
    char found[120];
    struct stat about;
    bool has_ahead = ahead.failed || (stat(ahead.text, &about) == 0 && about.st_size > 0);

    if (has_ahead && header[AHEAD_AT] == 1)
        return tell(errors, file, "is a backup, and its -wal is of the database before it",
                    "move the -wal away, too, or use mcpxctl store restore");
    if (has_ahead || size >= wanted ||
        memcmp(header + CHANGES_AT, header + PAGES_OF_AT, 4) != 0)
        return MCPX_OK;
    (void)snprintf(found, sizeof found, "is damaged: %llu bytes of %llu are there",
                   (unsigned long long)size, (unsigned long long)wanted);
    return tell(errors, file, found,
                "put a backup in its place, or move it away and begin anew");
}

static enum mcpx_err examine_header(const char *file, const unsigned char *header, size_t len,
                                    struct mcpx_text *errors)
{
    static const char another[] = "name another file: this one is left as it is";
    char found[120];

    if (len == 0)
        return tell(errors, file, "is empty, which a database never is",
                    "put a backup in its place, or remove it and begin anew");
    if (!is_sqlite(header, len))
        return tell(errors, file, "is not a SQLite database, or its beginning is damaged",
                    another);
    if (big_endian(header + ID_AT) != SCHEMA_ID)
        return tell(errors, file, "is the database of another program", another);
    if (big_endian(header + VERSION_AT) > SCHEMA_VERSION) {
        (void)snprintf(found, sizeof found, "was written by a newer mcpx-router (version %u)",
                       (unsigned)big_endian(header + VERSION_AT));
        return tell(errors, file, found, "use that one, or name another file");
    }
    return MCPX_OK;
}

static enum mcpx_err examine_open_file(const char *file, int fd, struct mcpx_text *errors)
{
    unsigned char header[HEADER_BYTES];
    struct stat about = {.st_mode = 0};
    enum mcpx_err err;
    ssize_t len;

    if (fstat(fd, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return tell(errors, file, "is a device, a pipe or a socket", "name a file");
    len = read(fd, header, sizeof header);
    if (len < 0 && errno == EISDIR)
        return tell(errors, file, "is a folder", "name a file in it");
    if (len < 0)
        return tell(errors, file, strerror(errno), "see to it that it can be read");
    err = examine_header(file, header, (size_t)len, errors);
    if (err == MCPX_OK)
        err = examine_size(file, header, (uint64_t)about.st_size, errors);
    return err;
}

enum mcpx_err sqlite_file_examine(const char *file, struct mcpx_text *errors, bool *is_there)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    enum mcpx_err err;

    *is_there = fd >= 0;
    if (fd < 0 && errno == ENOENT)
        return MCPX_OK;
    if (fd < 0 && errno == ELOOP) /* two names of one file would be two locks */
        return tell(errors, file, "is a symbolic link", "name the file that it leads to");
    if (fd < 0) {
        mx_format(errors, "store.file %q cannot be read: %s\n", file, strerror(errno));
        return MCPX_ESYSTEM;
    }
    err = examine_open_file(file, fd, errors);
    (void)close(fd);
    return err;
}

/* ---- making ---- */

/* Syncs the folder of a file, and with it a new name of that file. */
static bool sync_folder(const char *file)
{
    mx_scoped_text folder = {0};

    mx_path_resolve(".", file, &folder);
    return !folder.failed && mx_folder_sync(AT_FDCWD, folder.text);
}

enum mcpx_err sqlite_file_move(const char *made, const char *place, struct mcpx_text *errors)
{
    if (rename(made, place) == 0 && sync_folder(place))
        return MCPX_OK;
    mx_format(errors, "store.file: cannot move %q to %q: %s\n", made, place, strerror(errno));
    return MCPX_ESYSTEM;
}

enum mcpx_err sqlite_file_make(const char *path, struct mcpx_text *errors)
{
    int fd;

    (void)unlink(path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        mx_format(errors, "store.file: cannot make %q: %s\n", path, strerror(errno));
        return MCPX_ESYSTEM;
    }
    (void)close(fd);
    return MCPX_OK;
}

/* ---- FILE.lock ---- */

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static void tell_holder(int lock, const char *file, struct mcpx_text *errors)
{
    struct flock held = whole_file();

    if (fcntl(lock, F_GETLK, &held) == 0 && held.l_type != F_UNLCK && held.l_pid > 0)
        mx_format(errors, "store.file %q is in use by process %s; stop that router first\n",
                  file, (int64_t)held.l_pid);
    else
        mx_format(errors,
                  "store.file %q is in use by another process; stop that router first\n",
                  file);
}

enum mcpx_err lock_new(const char *file, struct mcpx_text *errors, int *out)
{
    mx_scoped_text path = mx_formatted("%s.lock", file);
    struct flock wanted = whole_file();
    int lock;

    if (path.failed)
        return MCPX_ENOMEM;
    lock = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) {
        mx_format(
            errors,
            "store.file %q: cannot make %q: %s; the folder has to exist, and this user has "
            "to be able to write in it\n",
            file, path.text, strerror(errno));
        return MCPX_ESYSTEM;
    }
    if (fcntl(lock, F_SETLK, &wanted) != 0) {
        if (errno == EACCES || errno == EAGAIN)
            tell_holder(lock, file, errors);
        else
            mx_format(errors, "store.file %q: cannot lock %q: %s\n", file, path.text,
                      strerror(errno));
        lock_free(lock);
        return MCPX_ESYSTEM;
    }
    *out = lock;
    return MCPX_OK;
}

void lock_free(int lock)
{
    if (lock >= 0)
        (void)close(lock);
}

void lock_read(int lock, char *out, size_t size)
{
    ssize_t len = pread(lock, out, size - 1, 0);

    out[len > 0 ? len : 0] = '\0';
}

bool lock_write(int lock, const char *text)
{
    size_t len = strlen(text);

    return pwrite(lock, text, len, 0) == (ssize_t)len && ftruncate(lock, (off_t)len) == 0 &&
           fdatasync(lock) == 0;
}
