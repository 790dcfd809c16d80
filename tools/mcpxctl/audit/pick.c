/*
 * pick.c - picks lines by their unescaped values: another spelling of a name does not get past a
 * filter.
 *
 * The ids that belong to an envelope are a growing set: all lines are read again until it stops
 * growing. An answer comes after its request, so a pass finds one step backwards, and all steps
 * forwards.
 */
#include "tools/mcpxctl/audit/audit.h"

#include "lib/base/ident.h"
#include "tools/common/program.h"
#include <mcpx/json.h>

static void read_time(const struct arguments *arguments, const char *option, int64_t *out)
{
    const char *value = arguments_value(arguments, option);

    if (value && !mx_time_parse(mcpx_slice_of(value), out))
        end_with(STATUS_USAGE,
                 "%s needs a time as lines have it, such as 2026-01-31T23:59:59Z", option);
}

/* Refuses an unknown sort: it would pick nothing, and look as if nothing had happened. */
static void read_sorts(const struct arguments *arguments, struct pick *out)
{
#define SORT_NAME(constant, name) name,
#define SORT_LISTED(constant, name) "|" name
    static const char *const names[] = {AUDIT_SORTS(SORT_NAME)};
    const struct option_word *word;
    size_t at = 0;

    while ((word = arguments_next(arguments, "--what", &at)) != NULL) {
        size_t sort = 0;

        while (sort < AUDIT_OTHER && strcmp(names[sort], word->value) != 0)
            sort++;
        if (sort == AUDIT_OTHER)
            end_with(STATUS_USAGE, "--what is one of %s", &(AUDIT_SORTS(SORT_LISTED))[1]);
        out->by_sort = out->sorts[sort] = true;
    }
}

void pick_read(const struct arguments *arguments, struct pick *out)
{
    *out = (struct pick){.topic = mcpx_slice_of(arguments_value(arguments, "--topic"))};
    read_sorts(arguments, out);
    read_time(arguments, "--since", &out->since_ms);
    read_time(arguments, "--until", &out->until_ms);
    filter_read(arguments, &out->filter);
}

static void add_text(struct mcpx_text *out, const struct audit_line *line, const char *name)
{
    mcpx_json_add_unescaped(out, mcpx_json_get(line->whole, name));
}

struct mcpx_slice pick_kind(const struct audit_line *line)
{
    struct mcpx_slice kind = mcpx_json_get(line->whole, "kind");

    return kind.text ? kind : mcpx_json_get(line->whole, "kind_sent");
}

static bool takes_kind(const struct pick *pick, const struct audit_line *line,
                       struct mcpx_slice from)
{
    mx_scoped_text text = {0};
    struct mcpx_kind kind;

    mcpx_json_add_unescaped(&text, pick_kind(line));
    return mcpx_kind_parse(mcpx_text_view(&text), &kind, NULL) == MCPX_OK &&
           filter_passes(&pick->filter, &kind, from);
}

bool pick_takes(const struct pick *pick, const struct audit_line *line)
{
    const struct filter *filter = &pick->filter;
    mx_scoped_text from = {0};

    if ((pick->by_sort && !pick->sorts[line->what]) || line->wall_ms < pick->since_ms ||
        (pick->until_ms && line->wall_ms >= pick->until_ms) ||
        (pick->topic.text &&
         !mcpx_json_equals(mcpx_json_get(line->whole, "topic"), pick->topic)))
        return false;
    add_text(&from, line, "from");
    return filter->by_kind ? takes_kind(pick, line, mcpx_text_view(&from))
                           : filter_passes_from(filter, mcpx_text_view(&from));
}

/* ---- one envelope, and those that belong to it ---- */

/* The reader of an audit trusts its writer, so a known key is enough. */
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
    mx_map_reserve(map);
    mx_map_put(map, mx_map_hash(key, text), 1);
    follow->grown = true;
}

void follow_add(struct follow *follow, struct mcpx_slice id)
{
    put(follow, &follow->ids, id);
}

void follow_learn(struct follow *follow, const struct audit_line *line)
{
    mx_scoped_text id = {0}, before = {0};

    add_text(&id, line, "id");
    add_text(&before, line, "correlation_id");
    if (line->what == AUDIT_ALLOW && id.len > 0 && before.len > 0) {
        if (has(&follow->ids, mcpx_text_view(&id)))
            follow_add(follow, mcpx_text_view(&before));
        else if (has(&follow->ids, mcpx_text_view(&before)))
            follow_add(follow, mcpx_text_view(&id));
    }
}

bool follow_takes(struct follow *follow, const struct audit_line *line)
{
    struct mcpx_slice of = mcpx_json_get(line->whole, "of");
    mx_scoped_text text = {0};
    bool takes;

    if (line->what == AUDIT_UNDELIVERED)
        return of.text && has(&follow->lines, of);
    add_text(&text, line, "id");
    takes = text.len > 0 && has(&follow->ids, mcpx_text_view(&text));
    mcpx_text_reset(&text);
    add_text(&text, line, "correlation_id");
    takes |= text.len > 0 && has(&follow->ids, mcpx_text_view(&text));
    if (takes) /* by its number, as it is written */
        put(follow, &follow->lines, mcpx_json_get(line->whole, "seq"));
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
