/*
 * show.c - the policy of a running router. The pages of participants have the configuration's entry
 * beside what was changed at run time, so that both are of one instant. Two pages with a reload
 * between them belong to two policies: then nothing is printed.
 */
#include "tools/mcpxctl/policy/policy.h"

#include "lib/core/format.h"
#include "lib/core/json_write.h"
#include "lib/core/percent.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/changes_text.h"
#include "tools/mcpxctl/fetch.h"
#include "tools/mcpxctl/output.h"
#include <mcpx/json.h>

static const char verb[] = "policy";

/* What is composed of the answers. `after` is the name that the next page begins behind, if any. */
struct showing {
    const struct connection *where;
    bool json;
    struct mcpx_text rev, after, out;
};

/* ---- for people ---- */

static void tell_set(struct mcpx_text *out, struct mcpx_slice set)
{
    list_tell(out, "  topics  ", mcpx_json_get(set, "topics"));
    list_tell(out, "  grants  ", mcpx_json_get(set, "grants"));
    list_tell(out, "  denied  ", mcpx_json_get(set, "deny"));
}

static void tell_profiles(struct mcpx_text *out, struct mcpx_slice profiles)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, profiles);
    while (mcpx_json_walk_next(&walk)) {
        text_format(out, "profile %v\n", mcpx_json_get(walk.value, "name"));
        tell_set(out, walk.value);
    }
}

static void tell_participant(struct mcpx_text *out, struct mcpx_slice row)
{
    struct mcpx_slice configured = mcpx_json_get(row, "configured");
    struct mcpx_slice connected = mcpx_json_get(row, "connected");
    struct mcpx_slice left_out = mcpx_json_get(row, "left_out");
    struct mcpx_json_walk walk;

    text_format(out, "participant %v", mcpx_json_get(row, "id"));
    if (!configured.text)
        mcpx_text_puts(out, ", not in the configuration");
    if (connected.text && !mcpx_slice_equal(connected, MCPX_SLICE("0")))
        text_format(out, ", connections: %v", connected);
    mcpx_text_puts(out, "\n");
    tell_set(out, configured);
    if (mcpx_slice_equal(mcpx_json_get(configured, "jwt"), MCPX_SLICE("true")))
        mcpx_text_puts(out, "  signed tokens are accepted\n");
    mcpx_json_walk_start(&walk, mcpx_json_get(row, "changed"));
    while (mcpx_json_walk_next(&walk)) {
        text_format(out, "  changed at run time in %v\n", mcpx_json_get(walk.value, "topic"));
        changes_tell(out, "    ", mcpx_json_get(walk.value, "changes"));
    }
    if (left_out.text)
        text_format(out, "  and in %v topics more\n", left_out);
}

/* ---- asking ---- */

/* answer   zero-initialised; the caller finishes it in every case */
static int ask(const struct showing *showing, const char *path, struct mcpx_text *answer,
               struct mcpx_slice *value)
{
    int status = fetch_answer(showing->where, verb, path, NULL, answer);

    if (status == STATUS_OK && mcpx_json_check(mcpx_text_view(answer), 0, value, NULL))
        status = fail_with(STATUS_FAILED, verb, "the answer of %s is not JSON",
                           showing->where->api);
    return status;
}

static void begin(struct showing *showing, struct mcpx_slice policy)
{
    struct mcpx_slice profiles = mcpx_json_get(policy, "profiles");
    struct mcpx_text *out = &showing->out;

    mcpx_json_add_unescaped(&showing->rev, mcpx_json_get(policy, "rev"));
    if (!showing->json) {
        text_format(out, "policy %s\n", mcpx_text_view(&showing->rev));
        tell_profiles(out, profiles);
        return;
    }
    mx_json_begin_object(out, NULL);
    mcpx_json_add_member(out, "rev", mcpx_text_view(&showing->rev));
    mx_json_add_raw(out, "profiles", profiles);
    mx_json_begin_array(out, "participants");
}

static void add_page(struct showing *showing, struct mcpx_slice page)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, mcpx_json_get(page, "participants"));
    while (mcpx_json_walk_next(&walk)) {
        if (showing->json)
            mx_json_add_raw(&showing->out, NULL, walk.value);
        else
            tell_participant(&showing->out, walk.value);
    }
    mcpx_text_reset(&showing->after);
    mcpx_json_add_unescaped(&showing->after, mcpx_json_get(page, "next"));
}

static int add_participants(struct showing *showing)
{
    struct pages pages = {.bytes_max = PAGES_BYTES_MAX};
    const char *endless = NULL;
    int status;

    do {
        struct mcpx_text path = {0}, answer = {0};
        struct mcpx_slice page = {NULL, 0};

        mcpx_text_puts(&path, "/admin/participants");
        if (showing->after.len > 0) {
            mcpx_text_puts(&path, "?after=");
            mx_percent_add(&path, mcpx_text_view(&showing->after));
        }
        status =
            path.failed ? complain_of_memory(verb) : ask(showing, path.text, &answer, &page);
        if (status == STATUS_OK)
            add_page(showing, page);
        if (status == STATUS_OK && showing->after.len > 0)
            endless = pages_follow(&pages, answer.len, mcpx_text_view(&showing->after));
        if (endless)
            status = fail_with(STATUS_FAILED, verb, "%s: the participants cannot be read: %s",
                               showing->where->api, endless);
        mcpx_text_fini(&answer);
        mcpx_text_fini(&path);
    } while (status == STATUS_OK && showing->after.len > 0);
    pages_fini(&pages);
    return status;
}

/* Is the policy that was begun with still in force? */
static int end(struct showing *showing)
{
    struct mcpx_text answer = {0};
    struct mcpx_slice policy = {NULL, 0};
    int status = ask(showing, "/admin/policy?limit=1", &answer, &policy);

    if (status == STATUS_OK &&
        !mcpx_json_equals(mcpx_json_get(policy, "rev"), mcpx_text_view(&showing->rev)))
        status = fail_with(STATUS_FAILED, verb,
                           "the router has read another configuration meanwhile; ask again");
    mcpx_text_fini(&answer);
    if (showing->json) {
        mx_json_end_array(&showing->out);
        mx_json_end_object(&showing->out);
        mcpx_text_puts(&showing->out, "\n");
    }
    return status;
}

static int show(struct showing *showing)
{
    struct mcpx_text answer = {0};
    struct mcpx_slice policy = {NULL, 0};
    int status = ask(showing, "/admin/policy?limit=1", &answer, &policy);

    if (status == STATUS_OK) {
        begin(showing, policy);
        status = add_participants(showing);
    }
    if (status == STATUS_OK)
        status = end(showing);
    if (status == STATUS_OK)
        status = output_print(&showing->out, verb, STATUS_OK);
    mcpx_text_fini(&answer);
    mcpx_text_fini(&showing->out);
    mcpx_text_fini(&showing->after);
    mcpx_text_fini(&showing->rev);
    return status;
}

int policy_show(const struct arguments *arguments)
{
    struct connection where;
    struct showing showing = {.where = &where, .json = arguments_have(arguments, "--json")};
    int status = connection_read_anywhere(arguments, &where);

    if (status == STATUS_OK)
        status = show(&showing);
    connection_fini(&where);
    return status;
}
