/*
 * reload.c - a hundred thousand participants take seconds to read, so a thread of its own does
 * that, and compares; the loop only exchanges one configuration for the other. What is equal in
 * both is shared, so a reload that changes one entry compiles one. The struct that edge->config
 * points to stays where it is: who reads a setting through it has the new one from then on.
 */
#include "router/edge/reload.h"

#include "router/edge/manager.h"
#include "router/edge/reload_tell.h"

#include <stdlib.h>

/* The difference in an answer; the rest is counted. */
enum { ANSWER_BYTES = 262144 };

/*
 * sources     of the configuration in force, as it was read
 * work        what the thread does, while `reading`
 * asker       who has asked for the one under way; `next`: for the one after it
 * asked, begun, done   numbers of reloads; `told` is what `done` was when it was asked for last
 * err, found  what the thread has found
 * retired     participants and keys of before, to be freed, some in each turn of the loop
 */
struct reload {
    struct edge *edge;
    struct config_sources sources;
    uv_work_t work;
    bool reading;
    struct reload_asker asker, next;
    uint64_t asked, begun, done, told;
    enum mcpx_err err;
    struct reload_found found;
    struct tokens *retired;
};

enum mcpx_err reload_new(struct edge *edge, const struct config_sources *sources)
{
    struct reload *reload = calloc(1, sizeof *reload);

    if (!reload)
        return MCPX_ENOMEM;
    reload->edge = edge;
    reload->sources = *sources;
    edge->reload = reload;
    edge->api.reloads.since_ms = edge_now(edge).mono_ms;
    return MCPX_OK;
}

static void forget_found(struct reload_found *found)
{
    difference_fini(&found->difference);
    mcpx_text_fini(&found->errors);
    mcpx_text_fini(&found->settings);
    mcpx_text_fini(&found->rows);
    config_fini(&found->config);
    *found = (struct reload_found){.shown = 0};
}

void reload_free(struct reload *reload)
{
    if (!reload)
        return;
    forget_found(&reload->found);
    tokens_free(reload->retired);
    mcpx_text_fini(&reload->asker.by);
    mcpx_text_fini(&reload->next.by);
    free(reload);
}

/* ---- on the thread: it only reads what the loop has, and nobody else has what it writes ---- */

static void read_all(uv_work_t *work)
{
    struct reload *reload = work->data;
    const struct config *before = reload->sources.before;
    struct reload_found *found = &reload->found;

    reload->err = config_load(&reload->sources, &found->errors, &found->config);
    if (reload->err)
        return;
    if (!config_compare(before, &found->config, &found->errors, &found->settings))
        reload->err = MCPX_ECONFIG;
    else
        reload->err =
            difference_find(before->tokens, found->config.tokens, &found->difference);
    if (!reload->err)
        found->shown = difference_write(&found->difference, ANSWER_BYTES, &found->rows);
    if (found->errors.failed || found->settings.failed || found->rows.failed)
        reload->err = MCPX_ENOMEM;
}

/* ---- on the loop ---- */

static bool same_limits(const struct hub_config *one, const struct hub_config *other)
{
    return one->message_bytes == other->message_bytes &&
           one->messages_per_minute == other->messages_per_minute &&
           one->bytes_per_minute == other->bytes_per_minute;
}

/* Gives what was in force before. */
static struct config exchange(struct edge *edge, struct config *config)
{
    struct config old = *edge->config;

    config->hub.log_bytes = old.hub.log_bytes; /* as it was settled at the start */
    tokens_take_shared(config->tokens, old.tokens);
    *edge->config = *config;
    *config = (struct config){.dev = false};
    edge->generation++;
    if (!same_limits(&old.hub, &edge->config->hub))
        edge->remind_before = edge->generation;
    return old;
}

static void configure(struct edge *edge)
{
    const struct config *config = edge->config;

    hub_configure(edge->hub, &config->hub, edge_now(edge));
    tickets_set_each(edge->tickets, config->tickets_each);
    gate_set_rates(edge->gate, config->connects_per_s, config->requests_per_minute);
    log_set(config->log_level, config->log_format);
}

/* The next reload begins when these are freed. */
static void retire(struct reload *reload, struct config *old)
{
    reload->retired = old->tokens;
    old->tokens = NULL;
    config_fini(old);
}

static void put_into_force(struct edge *edge)
{
    struct reload *reload = edge->reload;
    struct config old = exchange(edge, &reload->found.config);

    configure(edge);
    reload_tell_done(edge, &reload->found, old.rev, &reload->asker);
    edge->api.reloads.done++;
    edge->api.reloads.since_ms = edge_now(edge).mono_ms;
    retire(reload, &old);
}

static void begin(struct edge *edge);

static void on_read(uv_work_t *work, int status)
{
    struct reload *reload = work->data;
    struct edge *edge = reload->edge;

    (void)status; /* it is never cancelled */
    reload->reading = false;
    reload->done = reload->begun;
    edge->api.reloads.err = reload->err;
    if (edge->stopping) {
        forget_found(&reload->found);
        return;
    }
    manager_tell_reloaded();
    if (reload->err) {
        edge->api.reloads.refused++;
        reload_tell_refused(edge, reload->err, &reload->found, &reload->asker);
    } else {
        put_into_force(edge);
    }
    forget_found(&reload->found);
    begin(edge);
}

/* Begins the next one, if there is one to begin. */
static void begin(struct edge *edge)
{
    struct reload *reload = edge->reload;
    struct reload_asker asker = reload->asker;

    if (reload->asked == reload->begun || reload->reading || reload->retired)
        return;
    reload->asker = reload->next;
    reload->next = asker;
    reload->begun = reload->asked;
    reload->sources.before = edge->config;
    reload->work.data = reload;
    reload->reading = true;
    manager_tell_reloading();
    if (uv_queue_work(&edge->loop, &reload->work, read_all, on_read))
        abort(); /* it only fails without a function */
}

uint64_t reload_ask(struct edge *edge, const struct reload_source *source)
{
    struct reload *reload = edge->reload;

    if (reload->asked == reload->begun) { /* the first of those who want the same one */
        mcpx_text_reset(&reload->next.by);
        mcpx_text_slice(&reload->next.by, source->by);
        reload->next.address = source->address;
    }
    reload->asked = reload->begun + 1;
    begin(edge);
    return reload->asked;
}

bool reload_is_done(const struct edge *edge, uint64_t number)
{
    return edge->reload->done >= number;
}

bool reload_has_ended(struct edge *edge)
{
    struct reload *reload = edge->reload;
    bool ended = reload->told != reload->done;

    reload->told = reload->done;
    return ended;
}

bool reload_turn(struct edge *edge)
{
    struct reload *reload = edge->reload;

    if (reload->retired && tokens_free_some(reload->retired)) {
        reload->retired = NULL;
        if (!edge->stopping)
            begin(edge);
    }
    return reload->retired != NULL;
}
