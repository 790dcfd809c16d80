/*
 * config_warn.c - what is valid and surely not meant: a grant that covers nothing, a profile
 * nobody has, a secret everybody may read. Warnings never stop the router; `--check` is for
 * reading them.
 */
#include "router/policy/loading.h"
#include "router/policy/tokens_make.h"

#include <mcpx/capability.h>

/* The pattern of a grant, be it a string or an object. */
static struct mcpx_slice pattern_of(const json_t *grant)
{
    const json_t *text = json_is_object(grant) ? json_object_get(grant, "kind") : grant;

    return (struct mcpx_slice){json_string_value(text), json_string_length(text)};
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

static const char *oddity_of(struct mcpx_slice pattern, const json_t *deny)
{
    if (is_reserved(pattern))
        return "only the router sends such kinds, so the grant never matches";
    if (is_denied_literally(pattern, deny))
        return "the same pattern is denied, so the grant never matches";
    return mcpx_pattern_hint(pattern);
}

static void warn_grants(struct loading *loading, const struct mcpx_text *owner,
                        const json_t *object)
{
    const json_t *grants = json_object_get(object, "grants");
    const json_t *deny = json_object_get(object, "deny");

    for (size_t i = 0; i < json_array_size(grants); i++) {
        struct mcpx_slice pattern = pattern_of(json_array_get(grants, i));
        const char *oddity = oddity_of(pattern, deny);
        struct mcpx_text *line;

        if (!oddity)
            continue;
        line = warning_begin(loading, loading->sources->file, pointer_text(owner));
        mcpx_text_puts(line, "grant \"");
        mcpx_text_slice(line, pattern);
        mcpx_text_puts(line, "\": ");
        mcpx_text_puts(line, oddity);
        line_end(line);
    }
}

static bool profile_is_used(const struct loading *loading, const char *name)
{
    const char *id;
    json_t *person;

    json_object_foreach((json_t *)tree_at(loading, "participants", NULL), id, person)
    {
        const char *used = json_string_value(json_object_get(person, "profile"));

        if (used && strcmp(used, name) == 0)
            return true;
    }
    return false;
}

/* A token may name any profile, so one is only unused where no key could sign that token. */
static void warn_profiles(struct loading *loading, bool has_keys)
{
    struct mcpx_text pointer = {0};
    const char *name;
    json_t *profile;

    json_object_foreach((json_t *)tree_at(loading, "profiles", NULL), name, profile)
    {
        pointer_pop(&pointer, 0);
        mcpx_text_puts(&pointer, "/profiles");
        pointer_push(&pointer, name);
        if (!has_keys && !profile_is_used(loading, name))
            warning_line(loading, loading->sources->file, pointer_text(&pointer),
                         "nobody uses this profile");
        warn_grants(loading, &pointer, profile);
    }
    loading->no_memory |= pointer.failed;
    mcpx_text_fini(&pointer);
}

/* `signs`: somebody signs tokens, and could name one of them. */
static void warn_participants(struct loading *loading, bool signs)
{
    size_t silent = 0;
    struct mcpx_text pointer = {0};
    const char *id;
    json_t *person;

    json_object_foreach((json_t *)tree_at(loading, "participants", NULL), id, person)
    {
        silent += !json_object_get(person, "jwt");
        pointer_pop(&pointer, 0);
        mcpx_text_puts(&pointer, "/participants");
        pointer_push(&pointer, id);
        if (json_array_size(json_object_get(person, "topics")) == 0)
            warning_line(loading, loading->sources->file, pointer_text(&pointer),
                         "has no topics, so it can join none");
        warn_grants(loading, &pointer, person);
    }
    if (signs && silent)
        warning_line(
            loading, loading->sources->file, "/participants",
            "a JWT that names one of them is refused; \"jwt\": \"accepted\" in an entry "
            "lets it in with the entry's grants, \"refused\" says that this is meant");
    loading->no_memory |= pointer.failed;
    mcpx_text_fini(&pointer);
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

static void warn_limits(struct loading *loading)
{
    const struct hub_config *hub = &loading->settings.config.hub;
    const char *source = loading->sources->file ? loading->sources->file : "environment";

    if (hub->message_bytes == 0)
        warning_line(loading, source, "/limits/message_bytes",
                     "without a limit one message may take all memory");
    else if (hub->message_bytes > hub->history_bytes)
        warning_line(loading, source, "/topics/history/bytes",
                     "is less than limits.message_bytes, so the largest messages are not "
                     "retained");
    if (hub->backlog_bytes != 0 && hub->backlog_bytes < hub->message_bytes)
        warning_line(loading, source, "/limits/backlog_bytes",
                     "is less than limits.message_bytes, so one message can end a connection");
}

/* Protocol: section 5 (routing mode). One alone has nobody whose requests it could take for its own. */
static void warn_routing(struct loading *loading, const struct tokens *tokens)
{
    if (loading->settings.config.hub.directed || tokens_answerers(tokens) < 2)
        return;
    warning_line(
        loading, loading->sources->file, "/topics/routing",
        "is \"all\", and several participants may answer tool calls: programs that "
        "answer whatever they see answer each other's; \"directed\", here or as their "
        "routing, shows them only what is for them");
}

void write_warnings(struct loading *loading, const struct tokens *tokens)
{
    const char *file = loading->sources->file;
    size_t keys = jwt_ring_count(tokens_ring((struct tokens *)tokens));
    bool has_keys = keys > 0;
    bool has_people = json_object_size(tree_at(loading, "participants", NULL)) > 0;

    warn_profiles(loading, has_keys);
    warn_participants(loading, keys > (loading->sources->dev ? 1 : 0));
    warn_limits(loading);
    warn_routing(loading, tokens);
    if (file && file_holds_secret(loading) && file_is_public(file))
        warning_line(
            loading, file, "",
            "holds a secret and everybody on this machine may read it; chmod o-r mends "
            "that");
    if (!has_keys && !has_people)
        warning_line(
            loading, file ? file : "configuration", "",
            "there are neither participants nor keys, so nobody can come in; add some, "
            "or try --dev");
}
