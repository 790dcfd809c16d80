/*
 * grant.c - a grant is made once, shown on the wire many times: its JSON forms are written when
 * it is made, so that a welcome to a thousand participants copies bytes.
 * Includes grant.h, layer 0 and 1.
 */
#include "router/hub/grant.h"

#include "lib/core/ident.h"
#include "lib/core/json.h"

#include <stdlib.h>

static bool is_conditional(const struct mcpx_grant *grant)
{
    return grant->to_count > 0 || grant->expires_ms != 0;
}

static void write_capabilities(const struct mcpx_capset *set, struct mx_strbuf *out)
{
    mx_strbuf_add(out, "[", 1);
    for (size_t i = 0; i < mcpx_capset_count(set); i++) {
        if (i > 0)
            mx_strbuf_add(out, ",", 1);
        mx_json_string(out, mcpx_capset_grant(set, i)->pattern);
    }
    mx_strbuf_add(out, "]", 1);
}

/* {"kind": PATTERN, "to": [ids...], "expires": RFC3339}: protocol section 3. */
static void write_conditional(const struct mcpx_grant *grant, struct mx_strbuf *out)
{
    char expires[MX_TIME_LEN + 1];

    mx_strbuf_add(out, "{", 1);
    mx_json_member(out, "kind", grant->pattern);
    if (grant->to_count > 0) {
        mx_strbuf_puts(out, ",\"to\":[");
        for (size_t i = 0; i < grant->to_count; i++) {
            if (i > 0)
                mx_strbuf_add(out, ",", 1);
            mx_json_string(out, grant->to[i]);
        }
        mx_strbuf_add(out, "]", 1);
    }
    if (grant->expires_ms != 0) {
        mx_time_format(grant->expires_ms, expires);
        mx_strbuf_add(out, ",", 1);
        mx_json_member(out, "expires", mcpx_slice_of(expires));
    }
    mx_strbuf_add(out, "}", 1);
}

/* Leaves `out` empty when no grant has a condition: the patterns then say it all. */
static void write_whole(const struct mcpx_capset *set, struct mx_strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < mcpx_capset_count(set); i++)
        any |= is_conditional(mcpx_capset_grant(set, i));
    if (!any)
        return;
    for (size_t i = 0; i < mcpx_capset_count(set); i++) {
        const struct mcpx_grant *grant = mcpx_capset_grant(set, i);

        mx_strbuf_add(out, i > 0 ? "," : "[", 1);
        if (is_conditional(grant))
            write_conditional(grant, out);
        else
            mx_json_string(out, grant->pattern);
    }
    mx_strbuf_add(out, "]", 1);
}

struct grant *grant_new(struct mcpx_slice participant, struct mcpx_capset *capset,
                        enum routing routing, int64_t expires_ms)
{
    struct grant *grant = calloc(1, sizeof *grant + participant.len);
    char *id;

    if (!grant)
        return NULL;
    id = (char *)(grant + 1);
    memcpy(id, participant.text, participant.len);
    grant->refs = 1;
    grant->participant = (struct mcpx_slice){id, participant.len};
    grant->capset = mcpx_capset_ref(capset);
    grant->routing = routing;
    grant->expires_ms = expires_ms;
    write_capabilities(capset, &grant->capabilities);
    write_whole(capset, &grant->whole);
    if (grant->capabilities.failed || grant->whole.failed) {
        grant_unref(grant);
        return NULL;
    }
    return grant;
}

struct grant *grant_ref(struct grant *grant)
{
    grant->refs++;
    return grant;
}

void grant_unref(struct grant *grant)
{
    if (!grant || --grant->refs > 0)
        return;
    mcpx_capset_unref(grant->capset);
    mx_strbuf_fini(&grant->capabilities);
    mx_strbuf_fini(&grant->whole);
    free(grant);
}
