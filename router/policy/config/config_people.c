/*
 * config_people.c - profiles and participants. Each is checked, so that all errors show, then
 * compiled: its set may still be too large. After any error nothing is used.
 */
#include "lib/base/scoped.h"
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"
#include "router/policy/identity/tokens_make.h"

#include <mcpx/envelope.h>
#include <openssl/crypto.h>

/* Patterns are reported as "reason (component, byte 7)". */
static void report_grant(struct loading *loading, const json_t *value,
                         const struct mcpx_fault *fault)
{
    struct mcpx_text *line = error_found_here(loading, value, false);

    mx_format(line, ": %s", fault->reason);
    if (*fault->field)
        mx_format(line, " (%s, byte %s)", fault->field, fault->offset);
    mcpx_text_puts(line, "\n");
}

typedef enum mcpx_err take_grant(struct grant_list *list, const json_t *value,
                                 struct mcpx_fault *fault);

/* Takes each entry of the list under `name`, also after errors, so that all of them show. */
static void take_entries(struct loading *loading, const json_t *object, const char *name,
                         take_grant *take, struct grant_list *list)
{
    const json_t *array = json_object_get(object, name);
    size_t start = pointer_push(loading, name);

    for (size_t i = 0; i < json_array_size(array); i++) {
        struct mcpx_fault fault = {.reason = "", .field = ""};
        enum mcpx_err err = take(list, json_array_get(array, i), &fault);
        size_t len = pointer_push_index(loading, i);

        if (err == MCPX_ENOMEM)
            loading->no_memory = true;
        else if (err)
            report_grant(loading, json_array_get(array, i), &fault);
        pointer_pop(loading, len);
    }
    pointer_pop(loading, start);
}

static void check_profile_name(struct loading *loading, const json_t *person)
{
    const json_t *name = json_object_get(person, "profile");
    size_t len;

    if (!json_is_string(name) || tree_at(loading, "profiles", json_string_value(name)))
        return;
    len = pointer_push(loading, "profile");
    mcpx_text_puts(error_found_here(loading, name, false),
                   ", expected the name of a profile\n");
    pointer_pop(loading, len);
}

static void check_topics(struct loading *loading, const json_t *topics)
{
    size_t start = pointer_push(loading, "topics");

    for (size_t i = 0; i < json_array_size(topics); i++) {
        struct mcpx_slice text = json_slice(json_array_get(topics, i));
        size_t len = pointer_push_index(loading, i);

        /* values of other types were reported already */
        if (text.len > 0 && !mcpx_topic_name_is_valid(text))
            report_here(loading, REPORT_ERROR,
                        "expected a topic pattern of 1..256 bytes without control characters");
        pointer_pop(loading, len);
    }
    pointer_pop(loading, start);
}

/*
 * Two participants with one token could not be distinguished. `seen` holds the hashes so far.
 * Rejected: comparing each pair, because that took minutes at the limit of participants.
 */
static bool token_is_taken(struct loading *loading, const json_t *person, json_t *seen)
{
    const json_t *value = json_object_get(person, "token_sha256");
    char key[65];

    if (json_string_length(value) != sizeof key - 1)
        return false; /* reported already */
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (char)(json_string_value(value)[i] | (i < 64 ? 0x20 : 0));
    if (json_object_get(seen, key))
        return true;
    /* without UTF-8 check: an invalid hash was reported, and must not look like lost memory */
    loading->no_memory |= json_object_set_new_nocheck(seen, key, json_true()) != 0;
    return false;
}

static void check_person(struct loading *loading, const char *id, const json_t *person,
                         json_t *seen)
{
    if (!mcpx_participant_id_is_valid(mcpx_slice_of(id)))
        report_here(
            loading, REPORT_ERROR,
            "expected a participant id of 1..256 bytes without control characters, not "
            "\"system\" and not beginning with \"system:\"");
    else if (!mcpx_identity_is_valid(mcpx_slice_of(id)))
        report_here(loading, REPORT_ERROR,
                    "expected a participant id that does not end in ~ and digits, because "
                    "instances of a participant are called so");
    if (!json_object_get(person, "token_sha256"))
        report_here(loading, REPORT_ERROR,
                    "\"token_sha256\" is missing, expected the 64 hexadecimal digits of a "
                    "SHA-256");
    if (token_is_taken(loading, person, seen))
        report_here(loading, REPORT_ERROR,
                    "an earlier participant has the same \"token_sha256\"");
    check_profile_name(loading, person);
    check_topics(loading, json_object_get(person, "topics"));
}

static enum routing routing_of(const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "routing"));

    if (!text)
        return ROUTING_DEFAULT;
    return strcmp(text, "all") == 0 ? ROUTING_ALL : ROUTING_DIRECTED;
}

static void build(struct loading *loading, struct tokens *tokens, const char *id,
                  const json_t *object, const json_t *profile, const struct grant_list *list)
{
    const char *jwt = json_string_value(json_object_get(object, "jwt"));
    const char *hash = json_string_value(json_object_get(object, "token_sha256"));
    struct tokens_person made = {
        .id = mcpx_slice_of(id),
        .is_profile = !hash,
        .topics = json_object_get(object, "topics"),
        .grants = list,
        .routing = routing_of(object),
        .instances = (unsigned)json_integer_value(json_object_get(object, "instances")),
        .by_jwt = jwt && strcmp(jwt, "accepted") == 0};
    struct mcpx_fault fault;
    enum mcpx_err err = MCPX_OK;

    if (made.routing == ROUTING_DEFAULT)
        made.routing = routing_of(profile);
    if (hash &&
        !OPENSSL_hexstr2buf_ex(made.token_sha256, sizeof made.token_sha256, NULL, hash, '\0'))
        err = MCPX_ENOMEM;
    if (!err)
        err = tokens_add(tokens, &made, &fault);
    loading->no_memory |= err == MCPX_ENOMEM;
    if (err && err != MCPX_ENOMEM)
        report_here(loading, REPORT_ERROR,
                    "expected at most 1024 patterns of 65536 bytes, profile included");
}

/* `seen` is NULL for a profile. Without `tokens`, or with errors, it is not compiled. */
static void load_one(struct loading *loading, struct tokens *tokens, const char *name,
                     const json_t *object, json_t *seen)
{
    const char *of = json_string_value(json_object_get(object, "profile"));
    const json_t *profile = of ? tree_at(loading, "profiles", of) : NULL;
    const size_t faults = loading->faults;
    MX_SCOPED(grant_list_fini) struct grant_list list = {0};
    struct mcpx_fault ignored; /* the profile's errors were reported */

    if (seen)
        check_person(loading, name, object, seen);
    if (grant_list_add_all(&list, json_object_get(profile, "grants"),
                           json_object_get(profile, "deny"), &ignored) == MCPX_ENOMEM)
        loading->no_memory = true;
    take_entries(loading, object, "grants", grant_list_add, &list);
    take_entries(loading, object, "deny", grant_list_deny, &list);
    if (tokens && loading->faults == faults && !loading->no_memory)
        build(loading, tokens, name, object, profile, &list);
}

static void load_section(struct loading *loading, struct tokens *tokens, const char *section,
                         json_t *seen)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)tree_at(loading, section, NULL), name, value) {
        pointer_set(loading, section, name);
        if (json_is_object(value)) /* else it was reported already */
            load_one(loading, tokens, name, value, seen);
    }
}

void load_people(struct loading *loading, struct tokens *tokens)
{
    struct tokens *built = loading->faults == 0 ? tokens : NULL;
    json_auto_t *seen = json_object();

    load_section(loading, built, "profiles", NULL);
    loading->no_memory |= !seen;
    load_section(loading, built, "participants", seen);
    tokens_sort(tokens);
}
