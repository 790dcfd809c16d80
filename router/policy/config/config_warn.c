/*
 * config_warn.c - warns of valid settings that are probably mistakes: an unused profile, a hash of
 * no possible token, a public secret file. Warnings never stop the router; `--check` shows them.
 */
#include "lib/base/ident.h"
#include "lib/edge/file.h"
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"
#include "router/policy/identity/tokens_make.h"
#include <mcpx/capability.h>
#include <mcpx/envelope.h>

#include <strings.h>
#include <time.h>

/* ---- grants and denials ---- */

/* The owner of the grants: a participant, or a profile without topics. */
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

        if (pattern.len >= len && strncasecmp(pattern.text, names[i], len) == 0 &&
            (pattern.len == len || strchr("/:", pattern.text[len])))
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

    return report_begin(loading, REPORT_WARNING, loading->sources->file,
                        pointer_text(loading));
}

static void warn_typo(const struct grants *grants, const char *what, struct mcpx_slice pattern)
{
    mx_scoped_text warning = {0};

    if (kind_typo_warn(what, pattern, &warning))
        mx_format(begin(grants), "%s\n", &warning);
    grants->loading->no_memory |= warning.failed;
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
 * True when some name matches both patterns. row[j]: some name matches both the rest of a from byte
 * i on and the rest of b from byte j on. A star takes nothing, or a byte of the other pattern.
 */
static bool patterns_meet(struct mcpx_slice a, struct mcpx_slice b)
{
    bool row[MCPX_ID_MAX + 2] = {false};

    if (a.len > MCPX_ID_MAX || b.len > MCPX_ID_MAX)
        return false;
    for (size_t i = 0; i < a.len && i < b.len && a.text[i] != '*' && b.text[i] != '*'; i++)
        if (a.text[i] != b.text[i])
            return false; /* most do not need the rest */
    for (size_t i = a.len + 1; i-- > 0;) {
        bool both = false; /* row[j + 1] of the byte behind */

        for (size_t j = b.len + 1; j-- > 0;) {
            const bool behind = row[j], in_a = i < a.len, in_b = j < b.len;

            if ((in_a && a.text[i] == '*') || (in_b && b.text[j] == '*'))
                row[j] = (in_a && behind) || (in_b && row[j + 1]);
            else
                row[j] = in_a && in_b ? a.text[i] == b.text[j] && both : in_a == in_b;
            both = behind;
        }
    }
    return row[0];
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

/*
 * Writes warnings about the grants and denials of a profile or participant.
 *
 * object     at the pointer
 * has_keys   a token may name any participant
 */
static void warn_grants(struct loading *loading, const json_t *object, bool has_keys)
{
    const struct grants grants = {loading, json_object_get(object, "topics"), has_keys,
                                  loading->sources->wall_ms ? loading->sources->wall_ms
                                                            : (int64_t)time(NULL) * 1000};
    const json_t *list = json_object_get(object, "grants");
    const json_t *deny = json_object_get(object, "deny");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *grant = json_array_get(list, i);
        struct mcpx_slice pattern = pattern_of(grant);
        const char *fault = fault_of(pattern, deny);

        if (fault)
            mx_format(begin(&grants), "grant \"%s\": %s\n", pattern, fault);
        warn_typo(&grants, "grant", pattern);
        warn_expired(&grants, pattern, json_object_get(grant, "expires"));
        warn_to(&grants, pattern, json_object_get(grant, "to"));
    }
    for (size_t i = 0; i < json_array_size(deny); i++)
        warn_typo(&grants, "denial", pattern_of(json_array_get(deny, i)));
}

/* ---- everything else ---- */

static bool profile_is_used(const struct loading *loading, const char *name)
{
    const char *id;
    json_t *person;

    json_object_foreach((json_t *)tree_at(loading, "participants", NULL), id, person) {
        const char *used = json_string_value(json_object_get(person, "profile"));

        if (used && strcmp(used, name) == 0)
            return true;
    }
    return false;
}

/* A token may name any profile, so one is only unused where no key could sign that token. */
static void warn_profiles(struct loading *loading, bool has_keys)
{
    const char *name;
    json_t *profile;

    json_object_foreach((json_t *)tree_at(loading, "profiles", NULL), name, profile) {
        pointer_set(loading, "profiles", name);
        if (!has_keys && !profile_is_used(loading, name))
            report_here(loading, REPORT_WARNING, "nobody uses this profile");
        warn_grants(loading, profile, has_keys);
    }
}

/* A participant with the hash of no token cannot connect. */
static void warn_hash(struct loading *loading, const json_t *person)
{
    static const char of_nothing[] =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const char *hash = json_string_value(json_object_get(person, "token_sha256"));
    const char *fault = NULL;
    size_t len;

    if (strspn(hash, "0") >= 60)
        fault = "is the placeholder of an example, and no token has this hash; "
                "\"mcpxctl token\" prints a token and its hash";
    else if (strcasecmp(hash, of_nothing) == 0)
        fault = "is the hash of nothing, and no token is empty; \"mcpxctl token --sha256\" "
                "reads a token and prints its hash";
    if (!fault)
        return;
    len = pointer_push(loading, "token_sha256");
    report_here(loading, REPORT_WARNING, fault);
    pointer_pop(loading, len);
}

/* `signs`: a key signs tokens, and a token could name a participant. */
static void warn_participants(struct loading *loading, bool has_keys, bool signs)
{
    size_t silent = 0;
    const char *id;
    json_t *person;

    json_object_foreach((json_t *)tree_at(loading, "participants", NULL), id, person) {
        silent += !json_object_get(person, "jwt");
        pointer_set(loading, "participants", id);
        warn_hash(loading, person);
        if (json_array_size(json_object_get(person, "topics")) == 0)
            report_here(loading, REPORT_WARNING, "has no topics, so it can join none");
        warn_grants(loading, person, has_keys);
    }
    if (signs && silent)
        report_line(
            loading, REPORT_WARNING, loading->sources->file, "/participants",
            "a JWT that names one of them is refused; \"jwt\": \"accepted\" in an entry "
            "lets it in with the entry's grants, \"refused\" says that this is meant");
}

static bool file_holds_secret(const struct loading *loading)
{
    const json_t *jwt = tree_at(loading, "auth", "jwt");
    const json_t *keys = json_object_get(jwt, "keys");

    for (size_t i = 0; i < json_array_size(keys); i++) {
        if (json_object_get(json_array_get(keys, i), "secret"))
            return true;
    }
    return json_string_length(json_object_get(jwt, "secret")) > 0;
}

/* A single server sees no requests to other servers: protocol section 5 (routing mode). */
static void warn_settings(struct loading *loading, const struct tokens *tokens)
{
    const struct hub_config *hub = &loading->settings.config.hub;
    const struct report_rule rows[] = {
        {!hub->create, REPORT_WARNING, "/topics/create",
         "is false, and a topic comes to be only when its first participant joins, so nobody "
         "can enter any; expected true"},
        {hub->message_bytes == 0, REPORT_WARNING, "/limits/message_bytes",
         "without a limit one message may take all memory"},
        {hub->message_bytes > hub->history_bytes, REPORT_WARNING, "/topics/history/bytes",
         "is less than limits.message_bytes, so the largest messages are not retained"},
        {hub->backlog_bytes != 0 && hub->backlog_bytes < hub->message_bytes, REPORT_WARNING,
         "/limits/backlog_bytes",
         "is less than limits.message_bytes, so one message can end a connection"},
        {!hub->directed && tokens_answerers(tokens) >= 2, REPORT_WARNING, "/topics/routing",
         "is \"all\", and several participants may answer tool calls: programs that answer "
         "whatever they see answer each other's; \"directed\", here or as their routing, "
         "shows them only what is for them"}};

    report_rules(loading, rows, sizeof rows / sizeof *rows);
}

void write_warnings(struct loading *loading, const struct tokens *tokens)
{
    const char *file = loading->sources->file;
    size_t keys = jwt_ring_count(&tokens->ring);
    bool has_keys = keys > 0;

    warn_profiles(loading, has_keys);
    warn_participants(loading, has_keys, keys > (loading->sources->dev ? 1 : 0));
    warn_settings(loading, tokens);
    if (file && file_holds_secret(loading) && mx_file_is_public(file))
        report_line(
            loading, REPORT_WARNING, file, "",
            "holds a secret and everybody on this machine may read it; chmod o-r mends that");
    if (!has_keys && json_object_size(tree_at(loading, "participants", NULL)) == 0)
        report_line(
            loading, REPORT_WARNING, file ? file : "configuration", "",
            "there are neither participants nor keys, so nobody can come in; add some, "
            "or try --dev");
}
