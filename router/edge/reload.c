/*
 * reload.c - a thread reads a new configuration and compares it, because a hundred thousand
 * participants take seconds; the loop only exchanges one for the other. Equal parts are shared, so
 * a reload that changes one entry compiles one. edge->config points to the same struct before and
 * after. The log gets the counts of changes first, then a line for each, up to LINES_MAX.
 */
#include "router/edge/edge_parts.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "router/connection/edge.h"
#include "router/connection/loop_budget.h"
#include "router/connection/refusal.h"
#include "router/policy/identity/tokens.h"
#include "router/process/process.h"
#include "router/store/audit/audit_chain.h"
#include <mcpx/json.h>

#include <stdlib.h>
#include <systemd/sd-daemon.h>

/* ---- its result ---- */

/* The asker of a reload, as log lines name it; `remote` is empty for a signal. */
struct reload_asker {
    struct mcpx_text by;
    char remote[ADDRESS_TEXT_SIZE];
};

struct reload_found {
    struct config config;         /* as it was read; empty once it is active */
    struct mcpx_text errors;      /* lines */
    struct difference difference; /* grants gained and lost */
    struct mcpx_text rows; /* the same as a JSON array, with the first `shown` of them */
    size_t shown;
    struct mcpx_text settings; /* other settings, as a JSON array (config_compare) */
};

/* LINES_MAX: log lines about participants, and about errors. WHAT_MAX: bytes of one participant's
 * changes. FAULTS_MAX: bytes of errors in an answer. */
enum { LINES_MAX = 100, WHAT_MAX = 512, FAULTS_MAX = 65536 };

static void log_lines(enum log_level level, struct mcpx_slice lines)
{
    static const char *const line_events[] = {
        [LOG_ERROR] = "reload_fault", [LOG_WARN] = "reload_warning"};

    for (size_t i = 0; i < LINES_MAX; i++) {
        struct mcpx_slice line = mx_cut_at(&lines, '\n');

        if (!lines.text)
            return;
        LOG(level, line_events[level], log_text("line", line));
    }
}

/* ---- it is active ---- */

/* The thread has composed the rows, because that may take milliseconds for each. */
static void log_rows(const struct reload_found *found)
{
    size_t count = found->difference.count, told = 0;

    MCPX_JSON_EACH_WHILE(told < LINES_MAX, rows, mcpx_text_view(&found->rows)) {
        const struct difference_row *row = &found->difference.rows[told++];
        struct mcpx_slice what = rows.value;

        what.len = what.len < WHAT_MAX ? what.len : WHAT_MAX;
        LOG(LOG_INFO, "policy_changed", log_text(row->kind, row->name),
            log_string("change", difference_word(row->change)), log_text("what", what));
    }
    if (told < count)
        LOG(LOG_INFO, "policy_changed", log_number("left_out", (int64_t)(count - told)));
}

static void log_done(const struct edge *edge, const struct reload_found *found,
                     const char *was, const struct reload_asker *asker)
{
    const size_t *counts = found->difference.counts;

    LOG(LOG_INFO, "reloaded", log_string("rev", edge->config->rev), log_string("was", was),
        log_number("added", (int64_t)counts[DIFFERENCE_ADDED]),
        log_number("removed", (int64_t)counts[DIFFERENCE_REMOVED]),
        log_number("changed", (int64_t)counts[DIFFERENCE_CHANGED]),
        log_text("settings", mcpx_text_view(&found->settings)),
        log_text("by", mcpx_text_view(&asker->by)),
        log_known("remote", mcpx_slice_of(asker->remote)));
    log_rows(found);
    log_lines(LOG_WARN, mcpx_text_view(&edge->config->warnings));
}

static void write_answer(const struct edge *edge, const struct reload_found *found,
                         const char *was, struct mcpx_text *out)
{
    struct difference_answer answer = {.rev = edge->config->rev,
                                       .was = was,
                                       .difference = &found->difference,
                                       .settings = mcpx_text_view(&found->settings),
                                       .rows = mcpx_text_view(&found->rows),
                                       .shown = found->shown};

    mcpx_text_reset(out);
    mx_json_begin_object(out, NULL);
    difference_write_answer(&answer, out);
    difference_write_lines("warnings", mcpx_text_view(&edge->config->warnings), out);
    mx_json_end_object(out);
}

static void audit(struct edge *edge, const struct reload_found *found, const char *was,
                  const struct reload_asker *asker)
{
    const size_t *counts = found->difference.counts;
    mx_scoped_text reason = mx_formatted(
        "was %s; participants: %s added, %s removed, %s changed", was,
        counts[DIFFERENCE_ADDED], counts[DIFFERENCE_REMOVED], counts[DIFFERENCE_CHANGED]);
    struct audit_note note = {.what = AUDIT_RELOAD,
                              .rev = mcpx_slice_of(edge->config->rev),
                              .reason = mcpx_text_view(&reason),
                              .by = mcpx_text_view(&asker->by),
                              .address = mcpx_slice_of(*asker->remote ? asker->remote : NULL)};

    record(edge, &note);
}

/* Nothing has changed: logs a line for each error, and writes the answer. */
static void tell_refused(struct edge *edge, enum mcpx_err err,
                         const struct reload_found *found, const struct reload_asker *asker)
{
    struct mcpx_slice errors = mcpx_text_view(&found->errors);
    struct mcpx_text *answer = &edge->api.reloads.text;

    LOG(LOG_ERROR, "reload_refused", log_string("rev", edge->config->rev),
        log_string("reason", mcpx_strerror(err)), log_text("by", mcpx_text_view(&asker->by)),
        log_known("remote", mcpx_slice_of(asker->remote)));
    log_lines(LOG_ERROR, errors);
    mcpx_text_reset(answer);
    if (errors.len > FAULTS_MAX)
        errors.len = FAULTS_MAX;
    if (errors.len > 0 && errors.text[errors.len - 1] == '\n')
        errors.len--;
    mcpx_text_slice(answer, errors);
}

/* ---- reading it ---- */

/*
 * ANSWER_BYTES   of the difference in an answer; the rest is counted
 * WAIT_MS        how long a reload waits for files of TLS; their disk may hang
 */
enum { ANSWER_BYTES = 262144, WAIT_MS = 5000 };

/*
 * sources     of the active configuration, as it was read
 * errand      reads it
 * by_ms       mono_ms by which the reload of a signal begins; 0 = none waits
 * asker       requested the reload under way; `next`: the one after it
 * err, found  result of the thread
 * retired     former participants and keys; some are freed in each loop iteration
 */
struct reload {
    struct config_sources sources;
    struct errand errand;
    int64_t by_ms;
    struct reload_asker asker, next;
    enum mcpx_err err;
    struct reload_found found;
    struct tokens *retired;
};

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

/* ---- on the thread: it reads the loop's data, and writes only its own ---- */

static void read_all(struct edge *edge)
{
    struct reload *reload = edge->reload;
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

/* Makes the configuration active and returns the former one. */
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
    tickets_set_each(edge->api.tickets, config->tickets_each);
    rate_limits_set_rates(edge->api.rates, config->connects_per_s,
                          config->requests_per_minute);
    log_set(config->log_level, config->log_format);
}

static void put_into_force(struct edge *edge)
{
    struct reload *reload = edge->reload;
    struct config old = exchange(edge, &reload->found.config);

    configure(edge);
    log_done(edge, &reload->found, old.rev, &reload->asker);
    audit(edge, &reload->found, old.rev, &reload->asker);
    write_answer(edge, &reload->found, old.rev, &edge->api.reloads.text);
    edge->api.reloads.done++;
    edge->api.reloads.since_ms = edge_now(edge).mono_ms;
    reload->retired = old.tokens; /* the next reload begins when these are freed */
    old.tokens = NULL;
    config_fini(&old);
}

static bool take(struct edge *edge)
{
    struct reload *reload = edge->reload;

    edge->api.reloads.err = reload->err;
    if (!edge->stopping) {
        sd_notify(0, "READY=1");
        if (reload->err) {
            edge->api.reloads.refused++;
            tell_refused(edge, reload->err, &reload->found, &reload->asker);
        } else {
            put_into_force(edge);
        }
    }
    forget_found(&reload->found);
    waiters_ask_all(edge);
    return false;
}

static bool begin(struct edge *edge)
{
    struct reload *reload = edge->reload;
    struct reload_asker asker = reload->asker;

    if (edge->stopping || reload->retired)
        return false;
    reload->asker = reload->next;
    reload->next = asker;
    reload->sources.before = edge->config;
    systemd_notify_reloading();
    return true;
}

static const struct errand_sort reading = {begin, read_all, take};

enum mcpx_err reload_new(struct edge *edge, const struct config_sources *sources)
{
    struct reload *reload = calloc(1, sizeof *reload);

    if (!reload)
        return MCPX_ENOMEM;
    reload->errand.sort = &reading;
    reload->sources = *sources;
    edge->reload = reload;
    edge->api.reloads.since_ms = edge_now(edge).mono_ms;
    return MCPX_OK;
}

uint64_t reload_ask(struct edge *edge, struct mcpx_slice by, const struct address *from)
{
    struct reload *reload = edge->reload;

    if (reload->errand.asked == reload->errand.begun) { /* the first asker of this reload */
        mcpx_text_reset(&reload->next.by);
        mcpx_text_slice(&reload->next.by, by);
        *reload->next.remote = '\0';
        if (from)
            (void)address_text(*from, reload->next.remote);
    }
    return errand_ask(edge, &reload->errand);
}

void reload_all(struct edge *edge)
{
    (void)errand_ask(edge, &edge->tls.errand);
    (void)errand_ask(edge, &edge->keys.errand);
    if (!edge->reload->by_ms)
        edge->reload->by_ms = edge_now(edge).mono_ms + WAIT_MS;
}

/* Waits for the TLS files, because the sender of a signal waits for the reload alone, and expects
 * new connections to have the new certificate then. */
static void ask_in_time(struct edge *edge)
{
    struct reload *reload = edge->reload;
    const struct errand *tls = &edge->tls.errand;

    if (!reload->by_ms || edge->stopping ||
        (!errand_is_done(tls, tls->asked) && edge_now(edge).mono_ms < reload->by_ms))
        return;
    reload->by_ms = 0;
    (void)reload_ask(edge, MCPX_SLICE("signal"), NULL);
}

bool reload_is_done(const struct edge *edge, uint64_t number)
{
    return errand_is_done(&edge->reload->errand, number);
}

bool reload_turn(struct edge *edge)
{
    struct reload *reload = edge->reload;

    ask_in_time(edge);
    if (reload->retired && tokens_free_some(reload->retired)) {
        reload->retired = NULL;
        errand_go_on(edge, &reload->errand);
    }
    return reload->retired != NULL;
}
