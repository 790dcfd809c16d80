/*
 * logs.c - log messages go to those who want them. Before 2026-07-28 a participant sets a level for
 * all its requests; since then a request names one. An older server has one level: the lowest that
 * is wanted. Its messages go to everybody, and each client drops what is below its own level. A
 * server of 2026-07-28 is told with each request, and its messages go to participants with such a
 * request under way.
 */
#include "tools/mcpx-bridge/import/state.h"

#include "lib/base/ident.h"

#include <mcpx/envelope.h>

static bool can_log(const struct import *import)
{
    struct mcpx_slice greeting = mcpx_text_view(&import->greeting);

    return mcpx_json_get(mcpx_json_get(greeting, "capabilities"), "logging").text != NULL;
}

/* Gives an older server a level. */
static void set(struct import *import, unsigned level)
{
    mx_scoped_text params = {0};

    if (!level || level == import->log_level || import->handshake != IMPORT_LEGACY ||
        !can_log(import))
        return;
    import->log_level = level;
    mcpx_json_add_member(&params, "level", mcpx_slice_of(bridge_log_name(level)));
    import_request(import, IMPORT_HOUSEKEEPING, "logging/setLevel", mcpx_text_view(&params));
}

bool import_agreed(struct import *import, const struct bridge_call *call)
{
    struct import_sub *row;

    if (!bridge_is(call->method, "logging/setLevel"))
        return import_subs_agreed(import, call);
    if (call->written)
        import->log_level = call->level;
    row = import_subs_add(&import->levels, call->who.id, call->who);
    if (row)
        row->level = call->level;
    return row != NULL;
}

enum import_taken import_logs_takes(struct import *import, const struct bridge_call *call)
{
    unsigned others = 0;

    if (!bridge_is(call->method, "logging/setLevel") || !can_log(import))
        return IMPORT_PASSED;
    for (size_t i = 0; i < import->levels.count; i++) {
        const struct import_sub *row = import->levels.rows[i];

        if (row->level && !bridge_who_is(row->who, call->who) &&
            (!others || row->level < others))
            others = row->level;
    }
    if (import->handshake == IMPORT_LEGACY && (!others || call->level <= others))
        return IMPORT_PASSED;
    set(import, others);
    return call->level ? IMPORT_AGREED : IMPORT_REFUSED;
}

void import_logs_note(struct import *import, struct bridge_call *call)
{
    const struct import_sub *row = import_subs_find(&import->levels, call->who.id, call->who);

    if (import->handshake == IMPORT_MODERN)
        call->level = call->level || !row ? call->level : row->level;
    else if (!bridge_is(call->method, "logging/setLevel") &&
             (!import->log_level || call->level < import->log_level))
        set(import, call->level);
}

void import_logs_again(struct import *import)
{
    unsigned level = import->log_level;

    import->log_level = 0;
    set(import, level);
}

/* Fills `out` with the participants of a topic that want it, each once: as many as fit. */
static size_t find_readers(const struct import *import, size_t topic, unsigned level,
                           struct mcpx_slice out[MCPX_TO_MAX])
{
    size_t count = 0;

    for (const struct bridge_call *call = import->calls.first; call && count < MCPX_TO_MAX;
         call = call->next)
        if (call->purpose == IMPORT_PARTICIPANT && call->written && call->who.topic == topic &&
            bridge_log_passes(call->level, level) && !mx_id_is_among(call->who.id, out, count))
            out[count++] = call->who.id;
    return count;
}

void import_log(struct import *import, const struct mcpx_rpc *rpc)
{
    unsigned level = bridge_log_level(mcpx_json_get(rpc->params, "level"));
    struct mcpx_slice readers[MCPX_TO_MAX];

    if (import->handshake != IMPORT_MODERN) {
        import_notify(import, rpc->text);
        return;
    }
    for (size_t topic = 0; topic < import->config->topics; topic++) {
        struct mcpx_draft draft = {.to = readers, .payload = rpc->text};

        draft.to_count = find_readers(import, topic, level, readers);
        if (draft.to_count > 0)
            import_notify_topic(import, topic, &draft);
    }
}
