/*
 * expose_world.c - see expose_world.h. Texts are copied as they pass, so that nothing the server
 * only lent is looked at later.
 */
#include "tests/unit/tools/expose_world.h"

#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/expose/servers/catalog.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static char *copy(struct mcpx_slice text)
{
    char *out = malloc(text.len + 1);

    cr_assert_not_null(out);
    if (text.len)
        memcpy(out, text.text, text.len);
    out[text.len] = '\0';
    return out;
}

static void append(char **text, const char *more)
{
    size_t len = *text ? strlen(*text) : 0;

    *text = realloc(*text, len + strlen(more) + 2);
    cr_assert_not_null(*text);
    strcpy(*text + len, more);
    strcat(*text, "\n");
}

/* ---- what is asked ---- */

static size_t message_max(const void *user)
{
    (void)user;
    return 100;
}

static bool may(const void *user, const struct mcpx_question *question)
{
    const struct world *world = user;

    return mcpx_capset_allows(world->grants, question);
}

static bool could(const void *user, struct mcpx_slice participant,
                  const struct mcpx_kind *kind)
{
    (void)user;
    (void)kind;
    return participant.len > 0 && participant.text[0] != '-';
}

static bool is_behind(const void *user)
{
    return ((const struct world *)user)->behind;
}

static bool roster(const void *user, size_t index, struct mcpx_slice *id)
{
    const struct world *world = user;

    if (index >= world->present_count)
        return false;
    *id = mcpx_slice_of(world->present[index]);
    return true;
}

/* "00", then "01" and so on: no two rounds have the same. */
static void chance(const void *user, void *bytes, size_t len)
{
    memset(bytes, ((struct world *)user)->chances++, len);
}

/* ---- in and out ---- */

static void keep_draft(struct world *world, const struct mcpx_draft *draft,
                       struct bridge_outcome *outcome)
{
    struct world_draft *kept = &world->drafts[world->draft_count];

    outcome->err = world->send_fails;
    if (world->fails_once)
        world->send_fails = MCPX_OK;
    if (outcome->err)
        return;
    cr_assert_lt(world->draft_count, WORLD_DRAFTS);
    kept->type = copy(mcpx_slice_of(draft->type));
    kept->to = copy(draft->to_count ? draft->to[0] : MCPX_SLICE("all"));
    kept->about = copy(draft->correlation_id);
    kept->payload = copy(draft->payload);
    kept->tag = draft->tag;
    kept->expires_ms = draft->expires_ms;
    snprintf(kept->id, sizeof kept->id, "e%zu", ++world->draft_count);
    outcome->id = mcpx_slice_of(kept->id);
    mx_format(&world->out, "send %s %s to=%s", kept->id, kept->type, kept->to);
    if (kept->about[0])
        mx_format(&world->out, " about=%s", kept->about);
    if (kept->expires_ms)
        mx_format(&world->out, " expires=%s", kept->expires_ms - world->now.wall_ms);
    mx_format(&world->out, " %s\n", kept->payload);
}

static void keep_response(struct world *world, const struct bridge_action *action,
                          struct bridge_outcome *outcome)
{
    mx_scoped_text line = {0};

    mx_format(&line, "%s %s", action->about, action->text);
    if (world->narrow && action->text.len > world->narrow) {
        outcome->err = MCPX_ETOOBIG;
    } else {
        append(&world->responses, line.text);
        mx_format(&world->out, "respond %s\n", &line);
    }
}

/* What each tool, and each resource, has to have, and no test speaks of. */
static const char usual_input[] = ",\"inputSchema\":{\"type\":\"object\"}";
static const char usual_name[] = ",\"name\":\"-\"";

static void take_out(char *text, const char *part)
{
    for (char *at = text; (at = strstr(at, part)) != NULL;)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

/* A result with what is usual in each entry that lacks it. */
static struct mcpx_text with_usual(const char *result)
{
    struct mcpx_slice value, list = {0};
    struct mcpx_text out = {0};
    size_t next = 0;

    if (mcpx_json_check(mcpx_slice_of(result), 0, &value, NULL) == MCPX_OK)
        while (next < EXPOSE_PROMPTS && !list.text)
            list = mcpx_json_get(value, expose_lists[next++].member);
    MCPX_JSON_EACH_WHILE(list.text, walk, list) {
        bool is_tool = next == EXPOSE_TOOLS + 1;
        const char *end = walk.value.text + walk.value.len - 1;

        if (!mcpx_json_get(walk.value, expose_lists[next - 1].key).text ||
            mcpx_json_get(walk.value, is_tool ? "inputSchema" : "name").text)
            continue;
        mcpx_text_add(&out, result, (size_t)(end - result));
        mcpx_text_puts(&out, is_tool ? usual_input : usual_name);
        result = end;
    }
    mcpx_text_puts(&out, result);
    cr_assert_not(out.failed);
    return out;
}

static struct mcpx_slice self(const void *user)
{
    (void)user;
    return MCPX_SLICE("desk");
}

static void keep_text(struct world *world, const struct bridge_action *action)
{
    char *text = copy(action->text);

    cr_expect_null(memchr(text, '\n', action->text.len), "one message, one line");
    if (action->type == BRIDGE_LOG) {
        append(&world->notes, text);
        mx_format(&world->out, "log %s\n", text);
        free(text);
        return;
    }
    cr_assert_lt(world->line_count, WORLD_LINES);
    take_out(text, usual_input);
    take_out(text, usual_name);
    world->lines[world->line_count++] = text;
    mx_format(&world->out, "tell %s\n", text);
}

void world_fetch(struct world *world)
{
    const struct bridge_action *action;

    while ((action = expose_next(world->expose)) != NULL) {
        struct bridge_outcome outcome = {0};

        if (action->type == BRIDGE_SEND)
            keep_draft(world, &action->draft, &outcome);
        else if (action->type == BRIDGE_RESPOND)
            keep_response(world, action, &outcome);
        else if (action->type == BRIDGE_FORGET || action->type == BRIDGE_DROP)
            mx_format(&world->out, "%s %s\n", action->type == BRIDGE_DROP ? "drop" : "forget",
                      action->about);
        else
            keep_text(world, action);
        expose_done(world->expose, &outcome, world->now);
    }
}

void world_tell(struct world *world, const struct mcpx_event *event)
{
    expose_event(world->expose, event, world->now);
    world_fetch(world);
}

/* ---- from beginning to end ---- */

void world_start(struct world *world, const struct world_setup *setup)
{
    struct expose_view view = {world,     may,  could,  roster, message_max,
                               is_behind, NULL, chance, self};
    struct expose_config config = {.topic = "room",
                                   .room = setup->room,
                                   .nonce = "n",
                                   .plain = setup->plain,
                                   .answers_only = setup->http,
                                   .discover = setup->discover,
                                   .channel = setup->channel,
                                   .only = &setup->only,
                                   .only_count = setup->only ? 1 : 0,
                                   .request_ms = 600000,
                                   .proposal_ms = 60000,
                                   .heartbeat_ms = 15000};
    struct mcpx_grant grants[WORLD_GRANTS] = {{.pattern = MCPX_SLICE("mcp/*")}};
    size_t count = 0;

    *world = (struct world){.now = {1000000, 1700000000000}};
    for (; count < WORLD_GRANTS && setup->grants[count]; count++)
        grants[count].pattern = mcpx_slice_of(setup->grants[count]);
    cr_assert_eq(
        mcpx_capset_new(grants, count ? count : 1, NULL, 0, NULL, NULL, &world->grants),
        MCPX_OK);
    world->expose = expose_new(&config, &view);
}

void world_stop(struct world *world)
{
    for (size_t i = 0; i < world->draft_count; i++) {
        free(world->drafts[i].type);
        free(world->drafts[i].to);
        free(world->drafts[i].about);
        free(world->drafts[i].payload);
    }
    for (size_t i = 0; i < world->line_count; i++)
        free(world->lines[i]);
    expose_free(world->expose);
    mcpx_text_fini(&world->out);
    free(world->notes);
    free(world->responses);
    mcpx_capset_unref(world->grants);
}

void world_join(struct world *world)
{
    world_tell(world, &(struct mcpx_event){.type = MCPX_EVENT_JOINED});
}

static void presence(struct world *world, const char *id, enum mcpx_presence what)
{
    world_tell(world, &(struct mcpx_event){.type = MCPX_EVENT_PRESENCE,
                                           .participant = mcpx_slice_of(id),
                                           .presence = what});
}

void world_come(struct world *world, const char *id)
{
    world->present[world->present_count++] = id;
    presence(world, id, MCPX_PRESENCE_JOIN);
}

void world_go(struct world *world, const char *id)
{
    size_t at = 0;

    while (strcmp(world->present[at], id) != 0)
        at++;
    world->present[at] = world->present[--world->present_count];
    presence(world, id, MCPX_PRESENCE_LEAVE);
}

void world_say(struct world *world, const char *line)
{
    char *text = copy(mcpx_slice_of(line)); /* for a sanitizer to see who keeps it */

    expose_line(world->expose, mcpx_slice_of(text), world->now);
    free(text);
    world_fetch(world);
}

void world_wait(struct world *world, int64_t ms)
{
    world->now.mono_ms += ms;
    world->now.wall_ms += ms;
    expose_tick(world->expose, world->now);
    world_fetch(world);
}

/* ---- looking ---- */

const char *world_line(struct world *world)
{
    cr_assert_lt(world->line_seen, world->line_count, "nothing was said to the client");
    return world->lines[world->line_seen++];
}

const struct world_draft *world_draft(struct world *world)
{
    cr_assert_lt(world->draft_seen, world->draft_count, "nothing was sent to the topic");
    return &world->drafts[world->draft_seen++];
}

bool world_is_quiet(const struct world *world)
{
    for (size_t i = world->line_seen; i < world->line_count; i++)
        fprintf(stderr, "unseen line: %s\n", world->lines[i]);
    for (size_t i = world->draft_seen; i < world->draft_count; i++)
        fprintf(stderr, "unseen draft: %s %s\n", world->drafts[i].type,
                world->drafts[i].payload);
    return world->line_seen == world->line_count && world->draft_seen == world->draft_count;
}

void world_expect(struct world *world, const char *line)
{
    const char *found = world->line_seen < world->line_count ? world_line(world) : "(nothing)";

    cr_expect_str_eq(found, line, "\n   found %s\ninstead of %s", found, line);
}

void world_expect_draft(struct world *world, const char *draft)
{
    const struct world_draft *found;
    char *text;

    cr_assert_lt(world->draft_seen, world->draft_count, "no draft instead of %s", draft);
    found = world_draft(world);
    text = malloc(strlen(found->type) + strlen(found->to) + strlen(found->about) +
                  strlen(found->payload) + 16);
    sprintf(text, "%s %s%s%s %s", found->type, found->to, found->about[0] ? " about " : "",
            found->about, found->payload);
    cr_expect_str_eq(text, draft, "\n   found %s\ninstead of %s", text, draft);
    free(text);
}

/* ---- the topic speaks ---- */

void world_event_with(struct world *world, struct mcpx_event *event, const char *from,
                      const char *payload)
{
    static const struct mcpx_slice us[] = {{"us", 2}};
    char *text = payload ? copy(mcpx_slice_of(payload)) : NULL;
    struct mcpx_envelope *envelope = calloc(1, sizeof *envelope);
    struct mcpx_rpc *rpc = calloc(1, sizeof *rpc);

    envelope->id = MCPX_SLICE("theirs");
    envelope->from = mcpx_slice_of(from);
    envelope->correlation_id = mcpx_slice_of(world->about);
    envelope->to[0] = us[0];
    envelope->to_count = 1;
    envelope->payload = mcpx_slice_of(text);
    event->envelope = envelope;
    if (text && mcpx_rpc_read(envelope->payload, rpc, NULL) == MCPX_OK)
        event->rpc = rpc;
    world_tell(world, event);
    free(envelope);
    free(rpc);
    free(text);
}

void world_event(struct world *world, enum mcpx_event_type type,
                 const struct world_draft *draft, const char *from, const char *payload)
{
    struct mcpx_event event = {.type = type, .tag = draft ? draft->tag : NULL};

    if (draft)
        event.own = mcpx_slice_of(draft->id);
    world_event_with(world, &event, from, payload);
}

void world_answer(struct world *world, const struct world_draft *draft, const char *result)
{
    mx_scoped_text whole = with_usual(result);
    char *payload = malloc(whole.len + 64);

    sprintf(payload, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}", whole.text);
    world_event(world, MCPX_EVENT_RESPONSE, draft, draft->to, payload);
    free(payload);
}

static void answer_list(struct world *world, const struct world_draft *draft,
                        const struct world_server *server)
{
    const char *items[EXPOSE_LIST_COUNT] = {server->tools, server->resources,
                                            server->templates, server->prompts};

    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++) {
        char method[64], *result;

        snprintf(method, sizeof method, "\"method\":\"%s\"", expose_lists[i].method);
        if (!strstr(draft->payload, method))
            continue;
        result = malloc((items[i] ? strlen(items[i]) : 0) + 64);
        sprintf(result, "{\"%s\":[%s]}", expose_lists[i].member, items[i] ? items[i] : "");
        world_answer(world, draft, result);
        free(result);
    }
}

void world_serve(struct world *world, const struct world_server *servers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        world->present[world->present_count++] = servers[i].id;
    world_join(world);
    world_say(world,
              "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
              "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{}},"
              "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    while (world->draft_seen < world->draft_count) {
        const struct world_draft *draft = world_draft(world);
        size_t i = 0;

        while (strcmp(servers[i].id, draft->to) != 0)
            i++;
        if (strstr(draft->payload, "\"initialize\""))
            world_answer(world, draft,
                         "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{},"
                         "\"resources\":{\"subscribe\":true},\"prompts\":{},\"logging\":{}},"
                         "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}");
        else
            answer_list(world, draft, &servers[i]);
    }
    world_say(world, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    cr_assert_eq(world->line_count, 1, "initialize is answered once");
    world->line_seen = world->line_count;
    world_wait(world, 200);
    cr_assert_eq(world->line_count, 1, "nothing else is said");
}
