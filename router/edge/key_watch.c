/*
 * key_watch.c - asks each file for its time once a second; inotify was refused: it tells nothing of
 * files on a network, and misses a folder that is mounted anew. Reading takes a thread, because a
 * key is checked by arithmetic that takes milliseconds.
 */
#include "router/edge/key_watch.h"

#include "router/edge/edge.h"
#include "router/edge/log.h"
#include "router/edge/record.h"

/* Keeps nothing of the loop's but the file, of which it reads what never changes. */
static void read_file(uv_work_t *work)
{
    struct edge *edge = work->data;

    key_file_read(edge->keys.file, &edge->keys.reading);
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

static void on_read(uv_work_t *work, int status)
{
    struct edge *edge = work->data;
    struct key_watch *watch = &edge->keys;

    if (status == 0) {
        tell(edge, watch->file, &watch->reading);
        key_file_take(watch->file, &watch->reading);
    }
    key_reading_fini(&watch->reading);
    key_file_unref(watch->file);
    watch->file = NULL;
    if (!edge->stopping)
        key_watch_reread(edge); /* another one may have changed as well */
}

void key_watch_reread(struct edge *edge)
{
    struct key_watch *watch = &edge->keys;
    struct key_file *file;

    watch->looked_ms = edge_now(edge).mono_ms;
    for (size_t i = 0; !watch->file && (file = tokens_key_file(edge->config->tokens, i));
         i++) {
        if (!key_file_has_changed(file))
            continue;
        watch->file = key_file_ref(file);
        watch->reading = (struct key_reading){0};
        watch->work.data = edge;
        if (uv_queue_work(&edge->loop, &watch->work, read_file, on_read)) {
            key_file_unref(file); /* tried again in a second */
            watch->file = NULL;
            return;
        }
    }
}

void key_watch_look(struct edge *edge)
{
    if (edge_now(edge).mono_ms - edge->keys.looked_ms >= TICK_MS)
        key_watch_reread(edge);
}
