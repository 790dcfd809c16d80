/*
 * grant.c - a grant is made once and sent many times. Its JSON forms are written when it is made,
 * so that a welcome to a thousand participants copies bytes.
 */
#include "router/policy/grants/grant.h"

#include "lib/base/scoped.h"
#include "lib/json/json_write.h"
#include "lib/protocol/capset.h"
#include <mcpx/json.h>

#include <stdlib.h>

/* `shown_ms` of a new grant: nothing has expired. */
static const int64_t no_instant = INT64_MIN;

/* {"kind": PATTERN, "to": [ids...], "expires": RFC3339}: protocol section 3. */
static void write_conditional(const struct mcpx_grant *grant, struct mcpx_text *out)
{
    mx_json_begin_object(out, NULL);
    mcpx_json_add_member(out, "kind", grant->pattern);
    if (grant->to_count > 0)
        mx_json_add_strings(out, "to", grant->to, grant->to_count);
    mx_json_add_time(out, "expires", grant->expires_ms);
    mx_json_end_object(out);
}

void grant_write_item(const struct mcpx_grant *grant, struct mcpx_text *out)
{
    if (mcpx_grant_is_conditional(grant))
        write_conditional(grant, out);
    else
        mx_json_add_item(out, grant->pattern);
}

/* `whole` stays empty when no grant has a condition: the patterns then suffice. */
static void write_forms(struct grant *grant, int64_t wall_ms)
{
    const struct mcpx_capset *set = grant->capset;
    bool conditional = false;

    mx_json_begin_array(&grant->capabilities, NULL);
    for (size_t i = 0; i < set->grant_count; i++) {
        conditional |= mcpx_grant_is_conditional(&set->grants[i]);
        if (mx_grant_holds(&set->grants[i], wall_ms))
            mx_json_add_item(&grant->capabilities, set->grants[i].pattern);
    }
    mx_json_end_array(&grant->capabilities);
    if (!conditional)
        return;
    mx_json_begin_array(&grant->whole, NULL);
    for (size_t i = 0; i < set->grant_count; i++)
        if (mx_grant_holds(&set->grants[i], wall_ms))
            grant_write_item(&set->grants[i], &grant->whole);
    mx_json_end_array(&grant->whole);
}

static struct grant *make(const struct grant *model, int64_t wall_ms)
{
    struct grant *grant = calloc(1, sizeof *grant + model->identity.len);

    if (!grant)
        return NULL;
    memcpy(grant + 1, model->identity.text, model->identity.len);
    grant->refs = 1;
    grant->identity = (struct mcpx_slice){(const char *)(grant + 1), model->identity.len};
    grant->capset = mcpx_capset_ref(model->capset);
    grant->routing = model->routing;
    grant->expires_ms = model->expires_ms;
    grant->instances = model->instances;
    grant->credential = credential_ref(model->credential);
    grant->base = model->base ? grant_ref(model->base) : NULL;
    grant->shown_ms = wall_ms;
    write_forms(grant, wall_ms);
    if (grant->capabilities.failed || grant->whole.failed) {
        grant_unref(grant);
        return NULL;
    }
    return grant;
}

struct grant *grant_new(struct mcpx_slice identity, struct mcpx_capset *capset,
                        enum routing routing, int64_t expires_ms)
{
    struct grant model = {
        .identity = identity, .capset = capset, .routing = routing, .expires_ms = expires_ms};

    return make(&model, no_instant);
}

struct grant *grant_over(struct grant *base, struct mcpx_capset *capset)
{
    struct grant model = *base;

    model.capset = capset;
    model.base = base;
    return make(&model, no_instant);
}

struct grant *grant_at(struct grant *grant, int64_t wall_ms)
{
    for (size_t i = 0; i < mcpx_capset_count(grant->capset); i++) {
        const struct mcpx_grant *each = mcpx_capset_grant(grant->capset, i);

        if (!mx_grant_holds(each, wall_ms) && mx_grant_holds(each, grant->shown_ms))
            return make(grant, wall_ms);
    }
    return grant_ref(grant);
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
    mcpx_text_fini(&grant->capabilities);
    mcpx_text_fini(&grant->whole);
    if (grant->credential && --grant->credential->refs == 0)
        free(grant->credential);
    grant_unref(grant->base);
    free(grant);
}

bool grant_equals(const struct grant *one, const struct grant *other)
{
    return one->routing == other->routing && one->expires_ms == other->expires_ms &&
           one->instances == other->instances && mx_capset_equals(one->capset, other->capset);
}

struct credential *credential_new(const unsigned char token[32], bool of_entry,
                                  struct mcpx_slice proof)
{
    struct credential *made = malloc(sizeof *made + proof.len);

    if (!made)
        return NULL;
    *made = (struct credential){
        .refs = 1, .of_entry = of_entry, .proof = {(char *)(made + 1), proof.len}};
    memcpy(made->token, token, sizeof made->token);
    if (proof.len > 0)
        memcpy(made + 1, proof.text, proof.len);
    return made;
}

struct credential *credential_ref(struct credential *credential)
{
    if (credential)
        credential->refs++;
    return credential;
}

/*
 * Authority: the given pattern is compared with each pattern of the giver. Rejected: trying the
 * kinds that a pattern covers, because there are too many, and a sample may miss the one in
 * question. A pattern that only several grants cover together is refused: the giver can give it in
 * pieces.
 */

bool authority_has(struct mcpx_capset *set, const char *kind, int64_t wall_ms)
{
    struct mcpx_kind parsed;
    struct mcpx_question question = {.kind = &parsed, .wall_ms = wall_ms};

    return mcpx_kind_parse(mcpx_slice_of(kind), &parsed, NULL) == MCPX_OK &&
           mcpx_capset_allows(set, &question);
}

static bool lasts_as_long(const struct mcpx_grant *held, const struct mcpx_grant *given,
                          int64_t wall_ms)
{
    if (held->expires_ms == 0)
        return true;
    return mx_grant_holds(held, wall_ms) && given->expires_ms != 0 &&
           given->expires_ms <= held->expires_ms;
}

struct mcpx_slice authority_denial(const struct mcpx_capset *set,
                                   const struct mx_pattern *pattern)
{
    for (size_t i = 0; i < set->deny_count; i++)
        if (mx_pattern_may_meet(&set->patterns[set->grant_count + i], pattern))
            return mx_capset_denial(set, i);
    return (struct mcpx_slice){NULL, 0};
}

static bool covers(const struct mcpx_capset *set, const struct mcpx_grant *given,
                   int64_t wall_ms, struct mcpx_text *why)
{
    const char *missing = "your grants do not cover '%s'; what you do not have yourself you "
                          "can only grant with admin/*";
    struct mx_pattern pattern;
    struct mcpx_slice denial;
    bool covered = false;

    if (mx_pattern_parse(given->pattern, &pattern, NULL))
        return false;
    for (size_t i = 0; i < set->grant_count && !covered; i++) {
        const struct mcpx_grant *held = &set->grants[i];

        if (!mx_pattern_contains(&set->patterns[i], &pattern, false))
            continue;
        if (!mx_grant_to_covers(held, given))
            missing = "you have '%s' for some addressees only: name them as to";
        else if (!lasts_as_long(held, given, wall_ms))
            missing = "you do not have '%s' yourself for so long: give an earlier until";
        else
            covered = true;
    }
    denial = authority_denial(set, &pattern);
    if (!covered)
        mx_format(why, missing, given->pattern);
    else if (denial.text)
        mx_format(why, "'%s' may cover what '%s' denies you", given->pattern, denial);
    return covered && !denial.text;
}

bool authority_has_all(const struct mcpx_capset *set, int64_t wall_ms)
{
    const struct mcpx_grant all = {.pattern = MCPX_SLICE("admin/*")};
    mx_scoped_text why = {0};

    return covers(set, &all, wall_ms, &why);
}

bool authority_may_give(const struct mcpx_capset *set, const struct mcpx_grant *given,
                        int64_t wall_ms, struct mcpx_text *why)
{
    return authority_has_all(set, wall_ms) || covers(set, given, wall_ms, why);
}

bool authority_is_all(const struct mx_pattern *pattern)
{
    struct mx_pattern all;

    return mx_pattern_parse(MCPX_SLICE("admin/*"), &all, NULL) == MCPX_OK &&
           mx_pattern_contains(pattern, &all, false);
}

bool authority_is_guarded(const struct mcpx_capset *set, int64_t wall_ms)
{
    for (size_t i = 0; i < set->grant_count; i++)
        if (mx_grant_holds(&set->grants[i], wall_ms) && authority_is_all(&set->patterns[i]))
            return true;
    return false;
}
