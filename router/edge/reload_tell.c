/*
 * reload_tell.c - an administrator has to see at a glance whether a reload did what was meant, also
 * when it has changed ten thousand participants: sums first, then a line each, up to a number.
 */
#include "router/edge/reload_tell.h"

#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "router/edge/record.h"
#include "router/store/audit_note.h"
#include <mcpx/json.h>

/* Lines about participants, and about faults; bytes of what one of them has gained and lost; bytes
 * of faults in an answer. */
enum { LINES_MAX = 100, WHAT_MAX = 512, FAULTS_MAX = 65536 };

/* Who has asked, as fields of a line. */
struct who {
    struct log_field by, remote;
};

static struct who who_of(const struct reload_asker *asker, char text[ADDRESS_TEXT_SIZE])
{
    struct mcpx_slice by = mcpx_text_view(&asker->by);
    struct who who = {.by = log_string("by", "signal")};

    if (by.len > 0) {
        who.by = log_text("by", by);
        who.remote = log_string("remote", address_text(asker->address, text));
    }
    return who;
}

static void log_lines(enum log_level level, struct mcpx_slice lines)
{
    static const char *const line_events[] = {
        [LOG_ERROR] = "reload_fault", [LOG_WARN] = "reload_warning"};
    const char *end;

    for (size_t i = 0; lines.len > 0 && i < LINES_MAX; i++) {
        end = memchr(lines.text, '\n', lines.len);
        if (!end)
            return;
        LOG(level, line_events[level],
            log_text("line", (struct mcpx_slice){lines.text, (size_t)(end - lines.text)}));
        lines.len -= (size_t)(end + 1 - lines.text);
        lines.text = end + 1;
    }
}

/* ---- it is in force ---- */

static void log_row(const struct difference_row *row, struct mcpx_slice what)
{
    const char *kind;
    struct mcpx_slice name = difference_name(row, &kind);

    if (what.len > WHAT_MAX)
        what.len = WHAT_MAX;
    LOG(LOG_INFO, "policy_changed", log_text(kind, name),
        log_string("change", difference_word(row->change)), log_text("what", what));
}

/* As the thread has composed them, because that may take milliseconds for each. */
static void log_rows(const struct reload_found *found)
{
    size_t count = found->difference.count, told = 0;
    struct mcpx_json_walk rows;

    mcpx_json_walk_start(&rows, mcpx_text_view(&found->rows));
    for (; told < LINES_MAX && mcpx_json_walk_next(&rows); told++)
        log_row(&found->difference.rows[told], rows.value);
    if (told < count)
        LOG(LOG_INFO, "policy_changed", log_number("left_out", (int64_t)(count - told)));
}

static void log_done(const struct edge *edge, const struct reload_found *found,
                     const char *was, const struct reload_asker *asker)
{
    const size_t *counts = found->difference.counts;
    char text[ADDRESS_TEXT_SIZE];
    struct who who = who_of(asker, text);

    LOG(LOG_INFO, "reloaded", log_string("rev", edge->config->rev), log_string("was", was),
        log_number("added", (int64_t)counts[DIFFERENCE_ADDED]),
        log_number("removed", (int64_t)counts[DIFFERENCE_REMOVED]),
        log_number("changed", (int64_t)counts[DIFFERENCE_CHANGED]),
        log_text("settings", mcpx_text_view(&found->settings)), who.by, who.remote);
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
    mx_json_end_object(out);
}

static void audit(struct edge *edge, const struct reload_found *found, const char *was,
                  const struct reload_asker *asker)
{
    const size_t *counts = found->difference.counts;
    struct mcpx_text reason = mx_formatted(
        "was %s; participants: %s added, %s removed, %s changed", was,
        counts[DIFFERENCE_ADDED], counts[DIFFERENCE_REMOVED], counts[DIFFERENCE_CHANGED]);
    struct audit_note note = {.what = AUDIT_RELOAD,
                              .rev = mcpx_slice_of(edge->config->rev),
                              .reason = mcpx_text_view(&reason),
                              .by = MCPX_SLICE("signal")};
    char text[ADDRESS_TEXT_SIZE];

    if (asker->by.len > 0) {
        note.by = mcpx_text_view(&asker->by);
        note.address = mcpx_slice_of(address_text(asker->address, text));
    }
    record_reload(edge, &note);
    mcpx_text_fini(&reason);
}

void reload_tell_done(struct edge *edge, const struct reload_found *found, const char *was,
                      const struct reload_asker *asker)
{
    log_done(edge, found, was, asker);
    audit(edge, found, was, asker);
    write_answer(edge, found, was, &edge->api.reloads.text);
}

/* ---- nothing has changed ---- */

void reload_tell_refused(struct edge *edge, enum mcpx_err err,
                         const struct reload_found *found, const struct reload_asker *asker)
{
    struct mcpx_slice errors = mcpx_text_view(&found->errors);
    struct mcpx_text *answer = &edge->api.reloads.text;
    char text[ADDRESS_TEXT_SIZE];
    struct who who = who_of(asker, text);

    LOG(LOG_ERROR, "reload_refused", log_string("rev", edge->config->rev),
        log_string("reason", mcpx_strerror(err)), who.by, who.remote);
    log_lines(LOG_ERROR, errors);
    mcpx_text_reset(answer);
    if (errors.len > FAULTS_MAX)
        errors.len = FAULTS_MAX;
    if (errors.len > 0 && errors.text[errors.len - 1] == '\n')
        errors.len--;
    mcpx_text_slice(answer, errors);
}
