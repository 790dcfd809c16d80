/*
 * sqlite_lock.c - a lock of fcntl(2) goes with its process, however that ends, and says who holds
 * it. SQLite's own locks cannot serve: other programs may read and copy the database while the
 * router runs.
 */
#include "router/store/edge/sqlite_lock.h"

#include "lib/core/format.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
    struct mcpx_text path = mx_formatted("%s.lock", file);
    struct flock wanted = whole_file();
    enum mcpx_err err = MCPX_ENOMEM;
    int lock = -1;

    if (path.failed)
        goto out;
    err = MCPX_ESYSTEM;
    lock = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) {
        mx_format(
            errors,
            "store.file %q: cannot make %q: %s; the folder has to exist, and this user has "
            "to be able to write in it\n",
            file, path.text, strerror(errno));
        goto out;
    }
    if (fcntl(lock, F_SETLK, &wanted) != 0) {
        if (errno == EACCES || errno == EAGAIN)
            tell_holder(lock, file, errors);
        else
            mx_format(errors, "store.file %q: cannot lock %q: %s\n", file, path.text,
                      strerror(errno));
        goto out;
    }
    *out = lock;
    lock = -1;
    err = MCPX_OK;
out:
    lock_free(lock);
    mcpx_text_fini(&path);
    return err;
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
