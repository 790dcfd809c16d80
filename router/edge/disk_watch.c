/*
 * disk_watch.c - a disk that has gone away does not answer for minutes, so it is never asked on the
 * loop. The threads of the stages know these disks, too, but only look at them when there is
 * something to write, and it is others who fill a disk.
 */
#include "router/edge/disk_watch.h"

#include "router/edge/edge.h"

#include <sys/statvfs.h>

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
