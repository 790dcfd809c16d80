/*
 * grants.c - the router tells us our grants with their conditions, so the session can refuse a
 * message that the router would refuse. When grants cannot be read, everything is allowed here:
 * the router decides.
 */
#include "lib/participant/grants.h"

#include "lib/core/ident.h"

#include <stdlib.h>

/* A list of grants while it is read. Its strings are in `to` and in `patterns`. */
struct reading {
    struct mcpx_grant *grants;
    struct mx_string_list *to;
    struct mcpx_text patterns;
    size_t count;
};

static enum mcpx_err read_string(struct mcpx_slice value, struct mcpx_text *out)
{
    bool added = mcpx_json_add_unescaped(out, value);

    if (out->failed)
        return MCPX_ENOMEM;
    return added ? MCPX_OK : MCPX_EINVALID;
}

static enum mcpx_err read_expiry(struct mcpx_slice value, int64_t *expires_ms)
{
    struct mcpx_text text = {0};
    enum mcpx_err err;

    if (!value.text)
        return MCPX_OK;
    err = read_string(value, &text);
    if (!err && !mx_time_parse(mcpx_text_view(&text), expires_ms))
        err = MCPX_EINVALID;
    mcpx_text_fini(&text);
    return err;
}

/* A grant is a pattern or an object with conditions. Patterns become slices once all are read. */
static enum mcpx_err read_grant(struct reading *reading, struct mcpx_slice value)
{
    struct mcpx_grant *grant = &reading->grants[reading->count];
    struct mx_string_list *to = &reading->to[reading->count];
    struct mcpx_slice pattern = value;
    size_t before = reading->patterns.len;
    enum mcpx_err err = MCPX_OK;

    reading->count++;
    if (mcpx_json_type(value) == MCPX_JSON_OBJECT) {
        pattern = mcpx_json_get(value, "kind");
        err = mx_string_list_read(mcpx_json_get(value, "to"), to);
        if (!err)
            err = read_expiry(mcpx_json_get(value, "expires"), &grant->expires_ms);
    }
    if (!err)
        err = read_string(pattern, &reading->patterns);
    grant->to = to->items;
    grant->to_count = to->count;
    grant->pattern.len = reading->patterns.len - before;
    return err;
}

static enum mcpx_err compile(struct mcpx_slice list, struct reading *reading,
                             struct mcpx_capset **out)
{
    struct mcpx_json_walk walk;
    enum mcpx_err err = MCPX_OK;
    const char *at;

    mcpx_json_walk_start(&walk, list);
    while (!err && mcpx_json_walk_next(&walk))
        err = read_grant(reading, walk.value);
    if (err)
        return err;
    at = reading->patterns.text ? reading->patterns.text : "";
    for (size_t i = 0; i < reading->count; i++) {
        reading->grants[i].pattern.text = at;
        at += reading->grants[i].pattern.len;
    }
    return mcpx_capset_new(reading->grants, reading->count, NULL, 0, NULL, NULL, out);
}

static enum mcpx_err compile_list(struct mcpx_slice list, struct mcpx_capset **out)
{
    struct reading reading = {0};
    size_t count = mcpx_json_length(list) + 1;
    enum mcpx_err err = MCPX_ENOMEM;

    reading.grants = calloc(count, sizeof *reading.grants);
    reading.to = calloc(count, sizeof *reading.to);
    if (reading.grants && reading.to)
        err = compile(list, &reading, out);
    for (size_t i = 0; i < reading.count; i++)
        mx_string_list_fini(&reading.to[i]);
    mcpx_text_fini(&reading.patterns);
    free(reading.to);
    free(reading.grants);
    return err;
}

enum mcpx_err mx_grants_read(struct mcpx_slice you, struct mx_grants *out)
{
    struct mcpx_slice list = mcpx_json_get(you, "capabilities");
    struct mcpx_slice whole = mcpx_json_get(you, "grants");
    struct mx_grants grants = {0};
    enum mcpx_err err = mx_string_list_read(list, &grants.capabilities);

    if (err)
        return err;
    err =
        compile_list(mcpx_json_type(whole) == MCPX_JSON_ARRAY ? whole : list, &grants.capset);
    if (err == MCPX_ENOMEM) {
        mx_grants_fini(&grants);
        return err;
    }
    *out = grants;
    return MCPX_OK;
}

void mx_grants_fini(struct mx_grants *grants)
{
    mx_string_list_fini(&grants->capabilities);
    mcpx_capset_unref(grants->capset);
    *grants = (struct mx_grants){0};
}

bool mx_grants_may(const struct mx_grants *grants, const struct mcpx_question *question)
{
    return !grants->capset || mcpx_capset_allows(grants->capset, question);
}
