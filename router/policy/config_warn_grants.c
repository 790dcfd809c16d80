/*
 * config_warn_grants.c - warns of grants and denials that are valid but are probably mistakes:
 * those that can never match, and those that name a known kind with a typing error.
 */
#include "lib/core/format.h"
#include "lib/core/ident.h"
#include "router/policy/kind_typo.h"
#include "router/policy/loading.h"

#include <mcpx/capability.h>
#include <mcpx/envelope.h>
#include <mcpx/json.h>
#include <time.h>

/* The participant or profile that has the grants. A profile has no topics. */
struct grants {
    struct loading *loading;
    const json_t *topics;
    bool has_keys;
    int64_t wall_ms;
};

/* The pattern of a grant, be it a string or an object. */
static struct mcpx_slice pattern_of(const json_t *grant)
{
    return json_slice(json_is_object(grant) ? json_object_get(grant, "kind") : grant);
}

/* True when every kind the pattern covers is the router's own: protocol section 2. */
static bool is_reserved(struct mcpx_slice pattern)
{
    static const char *const names[] = {"system", "presence"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        size_t at = 0;

        while (at < len && at < pattern.len && (pattern.text[at] | 0x20) == names[i][at])
            at++;
        if (at == len && (pattern.len == len || strchr("/:", pattern.text[len])))
            return true;
    }
    return false;
}

static bool is_denied_literally(struct mcpx_slice pattern, const json_t *deny)
{
    for (size_t i = 0; i < json_array_size(deny); i++) {
        if (mcpx_slice_equal(pattern, pattern_of(json_array_get(deny, i))))
            return true;
    }
    return false;
}

static const char *fault_of(struct mcpx_slice pattern, const json_t *deny)
{
    if (is_reserved(pattern))
        return "only the router sends such kinds, so the grant never matches";
    if (is_denied_literally(pattern, deny))
        return "the same pattern is denied, so the grant never matches";
    return mcpx_pattern_hint(pattern);
}

static struct mcpx_text *begin(const struct grants *grants)
{
    struct loading *loading = grants->loading;

    return warning_begin(loading, loading->sources->file, pointer_text(loading));
}

static void warn_pattern(const struct grants *grants, struct mcpx_slice pattern,
                         const json_t *deny)
{
    const char *fault = fault_of(pattern, deny);

    if (fault)
        mx_format(begin(grants), "grant \"%s\": %s\n", pattern, fault);
}

static void warn_typo(const struct grants *grants, const char *what, struct mcpx_slice pattern)
{
    struct mcpx_text warning = {0};

    if (kind_typo_warn(what, pattern, &warning))
        mx_format(begin(grants), "%s\n", &warning);
    grants->loading->no_memory |= warning.failed;
    mcpx_text_fini(&warning);
}

static void warn_expired(const struct grants *grants, struct mcpx_slice pattern,
                         const json_t *expires)
{
    struct mcpx_slice date = json_slice(expires);
    int64_t wall_ms;

    if (date.text && mx_time_parse(date, &wall_ms) && wall_ms <= grants->wall_ms)
        mx_format(
            begin(grants),
            "grant \"%s\": expired at %s, so it never matches; expected a later date, or "
            "no \"expires\"\n",
            pattern, date);
}

/*
 * row[j]: some name is covered by a up to its byte and by b up to the j-th. Fills the row of a's
 * next byte. Returns false when nothing is covered that far.
 */
static bool step(char a, struct mcpx_slice b, const bool *row, bool *next)
{
    bool any = false;

    for (size_t j = 0; j <= b.len; j++) {
        bool is_star = j < b.len && b.text[j] == '*';

        next[j] |= row[j] && (a == '*' || is_star);
        if (j < b.len)
            next[j + 1] |= row[j] && !is_star && a == b.text[j];
        any |= next[j];
    }
    return any;
}

/* Adds to a row what is covered by more of b: a star of a takes any byte, one of b takes none. */
static void spread(bool a_is_star, struct mcpx_slice b, bool *row)
{
    for (size_t j = 0; j < b.len; j++)
        row[j + 1] |= row[j] && (a_is_star || b.text[j] == '*');
}

/* Whether there is a name that both patterns cover. */
static bool patterns_meet(struct mcpx_slice a, struct mcpx_slice b)
{
    bool rows[2][MCPX_ID_MAX + 1] = {{true}};
    bool any = a.len <= MCPX_ID_MAX && b.len <= MCPX_ID_MAX;

    for (size_t i = 0; any && i < a.len; i++) {
        bool *row = rows[i % 2], *next = rows[(i + 1) % 2];

        memset(next, 0, sizeof rows[0]);
        spread(a.text[i] == '*', b, row);
        any = step(a.text[i], b, row, next);
    }
    spread(false, b, rows[a.len % 2]);
    return any && rows[a.len % 2][b.len];
}

/* A participant without topics has a warning already. */
static bool never_meet(const json_t *topics, const json_t *others)
{
    for (size_t i = 0; i < json_array_size(topics); i++) {
        for (size_t j = 0; j < json_array_size(others); j++) {
            if (patterns_meet(json_slice(json_array_get(topics, i)),
                              json_slice(json_array_get(others, j))))
                return false;
        }
    }
    return json_array_size(topics) > 0 && json_array_size(others) > 0;
}

/* A key can sign tokens for any id. Without a key there are only the ids in the file. */
static const char *fault_of_addressee(const struct grants *grants, const char *id)
{
    const json_t *person = tree_at(grants->loading, "participants", id);

    if (!person && !grants->has_keys)
        return ", and nobody can have this id: no participant has it, and there is no key for "
               "tokens; expected ids of participants";
    if (never_meet(grants->topics, json_object_get(person, "topics")))
        return ", and the two may enter no topic together; expected topics in common";
    return NULL;
}

static void warn_to(const struct grants *grants, struct mcpx_slice pattern, const json_t *to)
{
    for (size_t i = 0; i < json_array_size(to); i++) {
        struct mcpx_slice id = json_slice(json_array_get(to, i));
        const char *fault = fault_of_addressee(grants, id.text);

        if (fault)
            mx_format(begin(grants), "grant \"%s\": \"to\" names %q%s\n", pattern, id, fault);
    }
}

static int64_t wall_ms_of(const struct config_sources *sources)
{
    struct timespec now = {0};

    if (sources->wall_ms)
        return sources->wall_ms;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void warn_grants(struct loading *loading, const json_t *object, bool has_keys)
{
    const struct grants grants = {loading, json_object_get(object, "topics"), has_keys,
                                  wall_ms_of(loading->sources)};
    const json_t *list = json_object_get(object, "grants");
    const json_t *deny = json_object_get(object, "deny");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *grant = json_array_get(list, i);
        struct mcpx_slice pattern = pattern_of(grant);

        warn_pattern(&grants, pattern, deny);
        warn_typo(&grants, "grant", pattern);
        warn_expired(&grants, pattern, json_object_get(grant, "expires"));
        warn_to(&grants, pattern, json_object_get(grant, "to"));
    }
    for (size_t i = 0; i < json_array_size(deny); i++)
        warn_typo(&grants, "denial", pattern_of(json_array_get(deny, i)));
}
