/*
 * config_warn.c - warns of settings that are valid but are probably mistakes: a profile that no
 * participant has, a token that cannot exist, a secret file that everybody may read. Warnings
 * never stop the router; `--check` shows them.
 */
#include "router/policy/loading.h"
#include "router/policy/tokens_make.h"

#include <strings.h>

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
    const char *name;
    json_t *profile;

    json_object_foreach((json_t *)tree_at(loading, "profiles", NULL), name, profile)
    {
        pointer_set(loading, "profiles", name);
        if (!has_keys && !profile_is_used(loading, name))
            warning_here(loading, "nobody uses this profile");
        warn_grants(loading, profile, has_keys);
    }
}

/* A hash that no token has is a participant that cannot come in. */
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
    warning_here(loading, fault);
    pointer_pop(loading, len);
}

/* `signs`: somebody signs tokens, and could name one of them. */
static void warn_participants(struct loading *loading, bool has_keys, bool signs)
{
    size_t silent = 0;
    const char *id;
    json_t *person;

    json_object_foreach((json_t *)tree_at(loading, "participants", NULL), id, person)
    {
        silent += !json_object_get(person, "jwt");
        pointer_set(loading, "participants", id);
        warn_hash(loading, person);
        if (json_array_size(json_object_get(person, "topics")) == 0)
            warning_here(loading, "has no topics, so it can join none");
        warn_grants(loading, person, has_keys);
    }
    if (signs && silent)
        warning_line(
            loading, loading->sources->file, "/participants",
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

static void warn_limits(struct loading *loading)
{
    const struct hub_config *hub = &loading->settings.config.hub;
    const char *source = loading->sources->file ? loading->sources->file : "environment";

    if (!hub->create)
        warning_line(
            loading, source, "/topics/create",
            "is false, and a topic comes to be only when its first participant joins, "
            "so nobody can enter any; expected true");
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

/* Protocol: section 5 (routing mode). A single server sees no requests to other servers. */
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
    warn_participants(loading, has_keys, keys > (loading->sources->dev ? 1 : 0));
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
