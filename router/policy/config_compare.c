/*
 * config_compare.c - what has become another value, and whether the running router can take it.
 * Every setting is written down when it is read, as a value by its pointer: comparing the members
 * of two structs was refused, because half of them are worked out from others.
 */
#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "router/policy/loading.h"
#include <mcpx/digest.h>
#include <mcpx/json.h>

#include <stdlib.h>

/* Of a list or a map as a whole: the secrets of keys are not to be seen in a list of values. */
static json_t *whole_digest(const struct loading *loading, const struct setting *row)
{
    const json_t *whole = loading->tree;
    char name[64], digest[MCPX_SHA256_LEN + 1];
    json_t *value = NULL;
    char *text;

    for (const char *at = row->pointer; *at; at += strcspn(at + 1, "/") + 1) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "/"), at + 1);
        whole = json_object_get(whole, name);
    }
    text = whole ? json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY)
                 : strdup(row->fallback);
    if (text && mcpx_digest_bytes(mcpx_slice_of(text), digest) == MCPX_OK)
        value = json_string(digest);
    free(text);
    return value;
}

static bool is_whole(const struct setting *row)
{
    return row->type == SETTING_LIST || row->type == SETTING_MAP;
}

/* Parts of lists and maps are no values of their own; who may connect is compared elsewhere. */
static bool is_kept(const struct setting *row)
{
    if (strchr(row->pointer, '*') || strcmp(row->pointer, "/profiles") == 0 ||
        strcmp(row->pointer, "/participants") == 0)
        return false;
    return row->size > 0 || is_whole(row);
}

/* Written with sorted names, so that order and white space do not matter. */
static void name_policy(struct loading *loading)
{
    char *profiles =
        json_dumps(tree_at(loading, "profiles", NULL), JSON_SORT_KEYS | JSON_COMPACT);
    char *people =
        json_dumps(tree_at(loading, "participants", NULL), JSON_SORT_KEYS | JSON_COMPACT);
    char digest[MCPX_SHA256_LEN + 1] = "";
    struct mcpx_text policy = {0};

    mcpx_text_puts(&policy, profiles ? profiles : "{}");
    mcpx_text_puts(&policy, "\n");
    mcpx_text_puts(&policy, people ? people : "{}");
    if (policy.failed || mcpx_digest_bytes(mcpx_text_view(&policy), digest))
        loading->no_memory = true;
    memcpy(loading->settings.config.rev, digest, CONFIG_REV_LEN);
    memcpy(loading->settings.config.hub.rev, digest, CONFIG_REV_LEN);
    mcpx_text_fini(&policy);
    free(profiles);
    free(people);
}

void note_values(struct loading *loading)
{
    json_t *values = json_object();

    for (const struct setting *row = settings_table; values && row->pointer; row++) {
        json_t *value;

        if (!is_kept(row))
            continue;
        value = is_whole(row) ? whole_digest(loading, row)
                              : setting_value(row, &loading->settings);
        if (json_object_set_new(values, row->pointer, value) == 0)
            continue;
        json_decref(values);
        values = NULL;
    }
    loading->no_memory |= !values;
    loading->settings.config.values = values;
    name_policy(loading);
}

static bool is_shown(const struct setting *row)
{
    return row->type != SETTING_SECRET && !is_whole(row);
}

static void add_value(struct mcpx_text *out, const char *before, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    mcpx_text_puts(out, before);
    mcpx_text_puts(out, text ? text : "");
    out->failed |= !text;
    free(text);
}

static void tell_restart(struct mcpx_text *errors, const struct setting *row,
                         const json_t *was, const json_t *now)
{
    mx_format(errors, "%s: ", row->pointer);
    if (is_shown(row)) {
        add_value(errors, "", was);
        add_value(errors, " -> ", now);
    } else {
        mcpx_text_puts(errors, "has changed");
    }
    mcpx_text_puts(errors, ", which takes a restart of the router\n");
}

static void tell_change(struct mcpx_text *changes, const struct setting *row,
                        const json_t *was, const json_t *now)
{
    mx_json_begin_object(changes, NULL);
    mcpx_json_add_member(changes, "setting", mcpx_slice_of(row->pointer));
    if (is_shown(row)) {
        add_value(changes, ",\"was\":", was);
        add_value(changes, ",\"now\":", now);
    }
    mx_json_end_object(changes);
}

bool config_compare(const struct config *before, const struct config *after,
                    struct mcpx_text *errors, struct mcpx_text *changes)
{
    bool live = true;

    mx_json_begin_array(changes, NULL);
    for (const struct setting *row = settings_table; row->pointer; row++) {
        const json_t *was = json_object_get(before->values, row->pointer);
        const json_t *now = json_object_get(after->values, row->pointer);

        if (json_equal(was, now) || !is_kept(row))
            continue;
        live &= row->live;
        if (row->live)
            tell_change(changes, row, was, now);
        else
            tell_restart(errors, row, was, now);
    }
    mx_json_end_array(changes);
    return live;
}
