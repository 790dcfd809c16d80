/*
 * key_watch.c - asks each file for its time once a second; inotify was refused: it tells nothing of
 * files on a network, and misses a folder that is mounted anew. All of that takes a thread: a disk
 * that has gone away answers nothing for minutes, and a key is checked by arithmetic that takes
 * milliseconds.
 */
#include "router/connection/key_watch.h"

#include "router/connection/edge.h"
#include "router/connection/refusal.h"
#include "router/process/log.h"

#include <stdlib.h>
#include <sys/statvfs.h>

/* Keeps nothing of the loop's but the file, of which the loop changes nothing meanwhile. */
static void look_at(uv_work_t *work)
{
    struct key_watch *watch = &((struct edge *)work->data)->keys;

    watch->has_read = key_file_has_changed(watch->file);
    if (watch->has_read)
        key_file_read(watch->file, &watch->reading);
}

static void tell(struct edge *edge, const struct key_file *file,
                 const struct key_reading *reading)
{
    if (reading->err) {
        LOG(LOG_ERROR, "keys_refused", log_string("file", file->path),
            log_string("reason",
                       reading->why.text ? reading->why.text : mcpx_strerror(reading->err)),
            log_string("hint", "the keys that were read before stay in force"));
        return;
    }
    LOG(LOG_INFO, "keys_read", log_string("file", file->path),
        log_number("keys", (int64_t)reading->keys.count),
        log_number("passed_over", (int64_t)reading->passed_over));
    record_keys(edge, file->setting);
}

static void on_looked(uv_work_t *work, int status);

/* The file of that number, where there is one. */
static void begin(struct edge *edge, size_t index)
{
    struct key_watch *watch = &edge->keys;
    struct key_file *file = tokens_key_file(edge->config->tokens, index);

    if (!file)
        return;
    watch->index = index;
    watch->reading = (struct key_reading){0};
    watch->file = key_file_ref(file);
    watch->work.data = edge;
    if (uv_queue_work(&edge->loop, &watch->work, look_at, on_looked))
        abort(); /* it only fails without a function */
}

static void on_looked(uv_work_t *work, int status)
{
    struct edge *edge = work->data;
    struct key_watch *watch = &edge->keys;

    (void)status; /* it is never cancelled */
    if (watch->has_read) {
        if (key_file_is_news(watch->file, &watch->reading))
            tell(edge, watch->file, &watch->reading);
        key_file_take(watch->file, &watch->reading);
    }
    key_reading_fini(&watch->reading);
    key_file_unref(watch->file);
    watch->file = NULL;
    if (edge->stopping)
        return;
    begin(edge, watch->index + 1);
    if (!watch->file && watch->again)
        key_watch_reread(edge);
}

void key_watch_reread(struct edge *edge)
{
    struct key_watch *watch = &edge->keys;

    watch->again = watch->file != NULL;
    if (watch->again)
        return;
    watch->looked_ms = edge_now(edge).mono_ms;
    begin(edge, 0);
}

void key_watch_look(struct edge *edge)
{
    if (!edge->keys.file && !edge->stopping &&
        edge_now(edge).mono_ms - edge->keys.looked_ms >= TICK_MS)
        key_watch_reread(edge);
}

/*
 * A disk that has gone away does not answer for minutes, so it is never asked on the loop. The
 * threads of the stages know these disks, too, but only look at them when there is something to
 * write, and it is others who fill a disk.
 */

static int64_t free_bytes(const struct mcpx_text *path)
{
    struct statvfs disk;

    if (path->len == 0 || statvfs(path->text, &disk))
        return -1;
    return (int64_t)(disk.f_bavail * disk.f_frsize);
}

static void ask(uv_work_t *work)
{
    struct disk_watch *watch = work->data;

    watch->found.store = free_bytes(&watch->store);
    watch->found.audit = free_bytes(&watch->audit);
}

static void on_asked(uv_work_t *work, int status)
{
    struct disk_watch *watch = work->data;

    (void)status; /* it is never cancelled */
    watch->known = watch->found;
    watch->asking = false;
}

enum mcpx_err disk_watch_open(struct edge *edge)
{
    struct disk_watch *watch = &edge->disks;
    const struct config *config = edge->config;

    if (config->hub.stored)
        mcpx_text_puts(&watch->store, config->store.file);
    if (config->hub.audited)
        mcpx_text_puts(&watch->audit, config->audit.folder);
    if (watch->store.failed || watch->audit.failed)
        return MCPX_ENOMEM;
    watch->work.data = watch;
    watch->found.asked_ms = edge_now(edge).mono_ms;
    ask(&watch->work);
    watch->known = watch->found;
    edge->api.disks = &watch->known;
    return MCPX_OK;
}

void disk_watch_look(struct edge *edge)
{
    struct disk_watch *watch = &edge->disks;
    int64_t now_ms = edge_now(edge).mono_ms;

    if (watch->asking || !edge->store || edge->stopping ||
        now_ms - watch->found.asked_ms < TICK_MS)
        return;
    watch->found.asked_ms = now_ms;
    watch->asking = uv_queue_work(&edge->loop, &watch->work, ask, on_asked) == 0;
}

void disk_watch_close(struct edge *edge)
{
    mcpx_text_fini(&edge->disks.store);
    mcpx_text_fini(&edge->disks.audit);
}
