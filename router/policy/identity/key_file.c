/*
 * key_file.c - all or nothing: a file that is broken, half written or gone takes no key away. The
 * time of a file is not enough: two versions may share it, and a copy that keeps times (cp -p)
 * brings an old one. The time of its inode cannot be set back.
 */
#include "router/policy/identity/key_file.h"

#include "lib/json/utf8.h"
#include "router/policy/identity/public_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static const char *read_all(int fd, size_t max, struct mcpx_text *out)
{
    char chunk[4096];
    ssize_t got;

    while ((got = read(fd, chunk, sizeof chunk)) > 0) {
        mcpx_text_add(out, chunk, (size_t)got);
        if (out->len > max)
            return "too large";
    }
    mx_utf8_skip_mark(out);
    return got < 0 ? strerror(errno) : NULL;
}

/* NULL for a regular file. */
static const char *judge_sort(int fd)
{
    struct stat status;

    if (fstat(fd, &status))
        return strerror(errno);
    if (S_ISFIFO(status.st_mode))
        return "it is a pipe; expected a regular file";
    if (S_ISDIR(status.st_mode))
        return "it is a folder; expected a regular file";
    return S_ISREG(status.st_mode) ? NULL : "it is a device; expected a regular file";
}

const char *file_read(const char *path, size_t max, struct mcpx_text *out)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* else a pipe would wait here */
    const char *why = fd < 0 ? strerror(errno) : judge_sort(fd);

    if (!why)
        why = read_all(fd, max, out);
    if (fd >= 0)
        close(fd);
    return why;
}

/* What whoever starts a program has opened for it: has an end, or is meant to be waited for. */
static bool is_handed_over(const char *path)
{
    return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0;
}

const char *file_read_given(const char *path, size_t max, struct mcpx_text *out)
{
    int fd = is_handed_over(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const char *why;

    if (fd < 0)
        return file_read(path, max, out);
    why = read_all(fd, max, out);
    close(fd);
    return why;
}

void path_resolve(const char *path, const char *beside, struct mcpx_text *out)
{
    const char *slash = beside && *path != '/' ? strrchr(beside, '/') : NULL;

    if (slash)
        mcpx_text_add(out, beside, (size_t)(slash + 1 - beside));
    mcpx_text_puts(out, path);
}

bool file_is_bounded(const char *path, size_t max)
{
    struct stat status;

    return stat(path, &status) != 0 ||
           (S_ISREG(status.st_mode) && (uint64_t)status.st_size <= max);
}

static bool others_may(const char *path, mode_t what)
{
    struct stat status;

    return stat(path, &status) == 0 && (status.st_mode & what) != 0;
}

bool file_is_public(const char *path)
{
    return others_may(path, S_IROTH);
}

bool file_is_anybodys(const char *path)
{
    return others_may(path, S_IWOTH);
}

/* ---- which content it was ---- */

static int64_t nanoseconds(struct timespec at)
{
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

struct file_stamp file_stamp_take(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return (struct file_stamp){0};
    return (struct file_stamp){nanoseconds(status.st_mtim), nanoseconds(status.st_ctim),
                               status.st_ino, (uint64_t)status.st_size};
}

bool file_stamp_equals(const struct file_stamp *one, const struct file_stamp *other)
{
    return one->modified_ns == other->modified_ns && one->changed_ns == other->changed_ns &&
           one->number == other->number && one->bytes == other->bytes;
}

struct key_file *key_file_new(const char *path, const char *setting,
                              const struct jwt_key *model)
{
    struct key_file *file = calloc(1, sizeof *file);

    if (!file)
        return NULL;
    file->refs = 1;
    file->path = strdup(path);
    file->setting = strdup(setting);
    file->is_set = !model;
    if (model)
        file->model = *model;
    file->model.kid = strdup(model && model->kid ? model->kid : "");
    if (!file->path || !file->setting || !file->model.kid) {
        key_file_unref(file);
        return NULL;
    }
    return file;
}

struct key_file *key_file_ref(struct key_file *file)
{
    file->refs++;
    return file;
}

void key_file_unref(struct key_file *file)
{
    if (!file || --file->refs > 0)
        return;
    jwt_keys_fini(&file->keys);
    free(file->path);
    free(file->setting);
    free(file->model.kid);
    free(file);
}

bool key_file_has_changed(const struct key_file *file)
{
    struct file_stamp now = file_stamp_take(file->path);

    return !file_stamp_equals(&now, &file->tried);
}

void key_file_read(const struct key_file *file, struct key_reading *reading)
{
    struct mcpx_text text = {0};
    const char *why;

    /* What is changed from here on is read again. */
    *reading = (struct key_reading){.stamp = file_stamp_take(file->path)};
    why = file_read(file->path, KEY_FILE_BYTES, &text);
    if (text.failed) {
        reading->err = MCPX_ENOMEM;
    } else if (why) {
        mcpx_text_puts(&reading->why, "it cannot be read: ");
        mcpx_text_puts(&reading->why, why);
        reading->err = MCPX_ECONFIG;
    } else if (file->is_set) {
        reading->err = jwks_read(mcpx_text_view(&text), &reading->keys, &reading->passed_over,
                                 &reading->why);
    } else {
        reading->err = public_keys_read(mcpx_text_view(&text), &file->model, &reading->keys,
                                        &reading->why);
    }
    if (why || text.failed) /* it may be readable in a moment: no content has this stamp */
        reading->stamp = (struct file_stamp){0};
    mcpx_text_fini(&text);
}

bool key_file_is_news(const struct key_file *file, const struct key_reading *reading)
{
    return !reading->err || !file->is_faulty ||
           !file_stamp_equals(&reading->stamp, &file->tried);
}

void key_file_take(struct key_file *file, struct key_reading *reading)
{
    bool is_news = key_file_is_news(file, reading);

    file->reads++;
    file->tried = reading->stamp;
    file->is_faulty = reading->err != MCPX_OK;
    file->failures += file->is_faulty && is_news;
    if (file->is_faulty)
        return;
    jwt_keys_fini(&file->keys);
    file->keys = reading->keys;
    file->stamp = reading->stamp;
    reading->keys = (struct jwt_keys){0};
}

void key_reading_fini(struct key_reading *reading)
{
    jwt_keys_fini(&reading->keys);
    mcpx_text_fini(&reading->why);
}

int64_t key_file_age_ms(const struct key_file *file, int64_t wall_ms)
{
    int64_t age = wall_ms - file->stamp.modified_ns / 1000000;

    return age > 0 ? age : 0;
}
