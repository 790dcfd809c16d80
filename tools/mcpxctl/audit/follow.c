/*
 * follow.c - a set of ids that grows: all lines are read again until it does not. Answers stand
 * behind what they answer, so it is found backwards one step a reading, and forwards all at once.
 */
#include "tools/mcpxctl/audit/follow.h"

#include "tools/mcpxctl/audit/pick.h"
#include <mcpx/json.h>

/* Whoever reads an audit has chosen to trust what wrote it, so a known key will do. */
static const struct mx_map_key key = {{1, 2}};

static bool has(const struct mx_map *map, struct mcpx_slice text)
{
    size_t at = 0;

    return mx_map_next(map, mx_map_hash(key, text), &at) != 0;
}

static void put(struct follow *follow, struct mx_map *map, struct mcpx_slice text)
{
    if (has(map, text))
        return;
    if (!mx_map_reserve(map)) {
        follow->failed = true;
        return;
    }
    mx_map_put(map, mx_map_hash(key, text), 1);
    follow->grown = true;
}

void follow_add(struct follow *follow, struct mcpx_slice id)
{
    put(follow, &follow->ids, id);
}

void follow_learn(struct follow *follow, const struct audit_line *line)
{
    struct mcpx_text id = {0}, before = {0};

    pick_text(&id, line, "id");
    pick_text(&before, line, "correlation_id");
    if (line->what == AUDIT_ALLOW && id.len > 0 && before.len > 0) {
        if (has(&follow->ids, mcpx_text_view(&id)))
            follow_add(follow, mcpx_text_view(&before));
        else if (has(&follow->ids, mcpx_text_view(&before)))
            follow_add(follow, mcpx_text_view(&id));
    }
    follow->failed |= id.failed || before.failed;
    mcpx_text_fini(&id);
    mcpx_text_fini(&before);
}

/* A line by its number, as it is written. */
static struct mcpx_slice number_of(const struct audit_line *line)
{
    return mcpx_json_get(line->whole, "seq");
}

bool follow_takes(struct follow *follow, const struct audit_line *line)
{
    struct mcpx_slice of = mcpx_json_get(line->whole, "of");
    struct mcpx_text text = {0};
    bool takes;

    if (line->what == AUDIT_UNDELIVERED)
        return of.text && has(&follow->lines, of);
    pick_text(&text, line, "id");
    takes = text.len > 0 && has(&follow->ids, mcpx_text_view(&text));
    mcpx_text_reset(&text);
    pick_text(&text, line, "correlation_id");
    takes |= text.len > 0 && has(&follow->ids, mcpx_text_view(&text));
    mcpx_text_fini(&text);
    if (takes)
        put(follow, &follow->lines, number_of(line));
    return takes;
}

void follow_next_folder(struct follow *follow)
{
    mx_map_fini(&follow->lines);
}

void follow_fini(struct follow *follow)
{
    mx_map_fini(&follow->ids);
    mx_map_fini(&follow->lines);
}
