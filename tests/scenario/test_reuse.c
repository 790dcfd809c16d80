/*
 * What breaks for whom: whoever may say anything pushes somebody's id out of history and says
 * something else under it. Others then take the one for the other: a response gets the attacker's
 * CONTEXT, a resumed connection skips what lay between. Protocol: sections 4 and 5.
 */
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* A room whose history holds ten envelopes; mallory may say anything. */
static struct world *room(void)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.history_count = 10;
    config.messages_per_minute = 0;
    w = world_with(&config);
    world_joins(w, "alice", "*");
    world_joins(w, "bob", "*");
    world_joins(w, "mallory", "*");
    world_skip(w);
    return w;
}

static enum mcpx_err says(struct world *w, const char *who, const char *id, const char *rest)
{
    char text[300];

    snprintf(text, sizeof text, "{\"id\":\"%s\",%s}", id, rest);
    return world_says(w, who, text);
}

static void floods(struct world *w, const char *who, int count)
{
    static int number;
    char id[32];

    while (count-- > 0) {
        snprintf(id, sizeof id, "f%d", number++);
        cr_assert_eq(says(w, who, id, "\"kind\":\"chat\""), MCPX_OK);
    }
    world_skip(w);
}

Test(reuse, an_id_that_was_pushed_out_of_history_stays_refused)
{
    struct world *w = room();

    says(w, "alice", "m1", "\"kind\":\"chat\"");
    floods(w, "mallory", 2000);
    cr_expect_eq(says(w, "mallory", "m1", "\"kind\":\"chat\""), MCPX_EDUPLICATE);
    cr_expect_eq(says(w, "alice", "m1", "\"kind\":\"chat\""), MCPX_EDUPLICATE);
    world_skip(w);
    world_free(w);
}

/* Alice said so much since that even her share has forgotten the request. */
Test(reuse, an_answer_is_not_completed_from_another_request_under_the_same_id)
{
    static const struct {
        const char *to, *kind;
    } rows[] = {
        {"\"alice\"", "mcp/response:tools/call"},
        {"\"alice\",\"bob\"", "mcp/response:tools/call"},
        {"\"mallory\"", "mcp/response:tools/call:delete_all"},
    };
    char text[200], wanted[100];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = room();

        says(w, "alice", "q1",
             "\"to\":[\"bob\"],\"kind\":\"mcp/request:tools/call:read_file\"");
        floods(w, "alice", 300);
        cr_assert_eq(
            says(w, "mallory", "q1", "\"kind\":\"mcp/request:tools/call:delete_all\""),
            MCPX_OK);
        snprintf(text, sizeof text,
                 "\"to\":[%s],\"kind\":\"mcp/response:tools/call\",\"correlation_id\":\"q1\"",
                 rows[i].to);
        cr_assert_eq(says(w, "bob", "a1", text), MCPX_OK);
        world_skip(w);
        snprintf(wanted, sizeof wanted, "\"kind\":\"%s\"", rows[i].kind);
        cr_expect(strstr(world_last(w, "alice"), wanted), "%s", world_last(w, "alice"));
        world_free(w);
    }
}
