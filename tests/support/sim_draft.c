/*
 * sim_draft.c - messages as raw members, so that the text everybody has to hear is written by the
 * same few lines as the text that is said, not by splicing.
 */
#include "tests/support/sim_draft.h"

#include "lib/base/ident.h"
#include <mcpx/text.h>

#include <stdio.h>

/* ---- drafting ---- */

static void add_member(struct draft *draft, const char *name, const char *raw)
{
    struct mcpx_text *member = &draft->members[draft->member_count++];

    mcpx_text_puts(member, name);
    mcpx_text_puts(member, raw);
}

/* A JSON string, its first character escaped now and then. */
static void quote(struct sim *sim, const char *text, char out[100])
{
    if (dice_hits(&sim->dice, 16) && *text)
        snprintf(out, 100, "\"\\u%04x%s\"", (unsigned)*text, text + 1);
    else
        snprintf(out, 100, "\"%s\"", text);
}

static void draw_kind(struct sim *sim, struct draft *draft)
{
    static const char *const kinds[] = {
        "chat",
        "chat",
        "note",
        "mcp/request:tools/call",
        "mcp/request:tools/call:t1",
        "mcp/request:tools/call:t2",
        "mcp/response:tools/call",
        "mcp/response:tools/call",
        "mcp/response:tools/call:t1",
        "mcp/response:tools/list",
        "mcp/proposal:tools/call:t1",
        "mcp/proposal:tools/call:t2",
        "mcp/request:tools/call",
        "System/hello",
        "presence",
    };

    strcpy(draft->kind, kinds[dice_below(&sim->dice, sizeof kinds / sizeof *kinds)]);
    if (draft->call_error == FLAW_KIND)
        strcpy(draft->kind, "chat::x");
    else if (mcpx_slice_equal(mcpx_slice_of(draft->kind), MCPX_SLICE("presence")) &&
             !dice_hits(&sim->dice, 3))
        strcpy(draft->kind, "chat");
}

/* An id that was said in this topic, retained or not; "" when there is none. */
static const char *past_id(struct sim *sim, const struct sim_topic *topic)
{
    size_t reach = topic->count < 30 ? topic->count : 30;

    if (topic->pending_count > 0 && dice_hits(&sim->dice, 2))
        return topic->pending[dice_below(&sim->dice, topic->pending_count)].id;
    if (reach == 0)
        return "";
    return topic->entries[topic->count - 1 - dice_below(&sim->dice, reach)].id;
}

static size_t draw_payload(struct sim *sim, const struct draft *draft)
{
    if (draft->call_error == FLAW_SIZE)
        return sim->config.message_bytes;
    switch (dice_below(&sim->dice, sim->is_bulky ? 4 : 64)) {
    case 0:
        return dice_below(&sim->dice, 65536);
    case 1:
    case 2:
    case 3:
        return dice_below(&sim->dice, 6000);
    case 4:
        return 60 + dice_below(&sim->dice, 10); /* around where the frame head grows */
    default:
        return dice_below(&sim->dice, 200);
    }
}

static void draw(struct sim *sim, const struct sim_peer *peer, struct draft *draft)
{
    static const enum call_error flaws[] = {FLAW_JSON, FLAW_PROTOCOL, FLAW_KIND, FLAW_FROM,
                                            FLAW_JSON, FLAW_FROM,     FLAW_UTF8, FLAW_SIZE};
    const struct sim_topic *topic = peer->topic;

    if (dice_hits(&sim->dice, 12)) {
        draft->call_error = flaws[dice_below(&sim->dice, sizeof flaws / sizeof *flaws)];
        if (draft->call_error >= FLAW_UTF8 && draft->call_error <= FLAW_SIZE &&
            !dice_hits(&sim->dice, 4))
            draft->call_error = FLAW_FROM;
    }
    draw_kind(sim, draft);
    if (dice_hits(&sim->dice, 14))
        strcpy(draft->id, past_id(sim, topic));
    if (!*draft->id)
        snprintf(draft->id, sizeof draft->id, "m%d", (int)sim->ids++);
    if (dice_hits(&sim->dice, 2))
        strcpy(draft->correlation, past_id(sim, topic));
    if (dice_hits(&sim->dice, 3))
        draft->to = 1U << dice_below(&sim->dice, SIM_WHO + 1) |
                    1U << dice_below(&sim->dice, SIM_WHO + 1);
    draft->has_from = draft->call_error == FLAW_FROM || dice_hits(&sim->dice, 3);
    draft->has_ts = dice_hits(&sim->dice, 3);
    draft->payload = draw_payload(sim, draft);
}

/* ---- writing ---- */

static void write_to(struct sim *sim, struct draft *draft)
{
    char raw[200] = "[";
    size_t len = 1;

    if (draft->to == 0 && !dice_hits(&sim->dice, 20))
        return; /* absent and empty mean the same */
    for (int who = 0; who <= SIM_WHO; who++)
        if (draft->to & 1U << who)
            len += (size_t)snprintf(raw + len, sizeof raw - len, "%s\"%s\"",
                                    len > 1 ? ", " : "", sim_id(who));
    snprintf(raw + len, sizeof raw - len, "]");
    add_member(draft, "\"to\":", raw);
}

static void write_payload(struct draft *draft)
{
    struct mcpx_text *member = &draft->members[draft->member_count++];

    mcpx_text_puts(member, "\"payload\":{\"n\":1e400,\"n\":1.10,\"t\":\"");
    if (draft->call_error == FLAW_UTF8)
        mcpx_text_puts(member, "\xff");
    if (mcpx_text_reserve(member, draft->payload + 8)) {
        memset(member->text + member->len, 'x', draft->payload);
        member->len += draft->payload;
    }
    mcpx_text_puts(member, "\"}");
}

static void write_members(struct sim *sim, const struct sim_peer *peer, struct draft *draft)
{
    char raw[100];

    add_member(draft, "\"protocol\":",
               draft->call_error == FLAW_PROTOCOL ? "\"mcpx/v0.2\"" : "\"mcpx/v0.1\"");
    quote(sim, draft->id, raw);
    add_member(draft, "\"id\":", raw);
    if (draft->has_from) {
        snprintf(raw, sizeof raw, "\"%s\"",
                 sim_id(draft->call_error == FLAW_FROM ? peer->who + 1 : peer->who));
        add_member(draft, "\"from\":", raw);
    }
    if (draft->has_ts)
        add_member(draft, "\"ts\": ", "\"2026-01-01T00:00:00Z\"");
    if (*draft->correlation)
        add_member(draft, "\"correlation_id\":", "");
    if (*draft->correlation) {
        quote(sim, draft->correlation, raw);
        mcpx_text_puts(&draft->members[draft->member_count - 1], raw);
    }
    write_to(sim, draft);
    if (dice_hits(&sim->dice, 8))
        add_member(draft, "\"x-extra\":", "[{}, null]");
    write_payload(draft);
    draft->kind_at = draft->member_count;
    quote(sim, draft->kind, raw);
    add_member(draft, "\"kind\": ", raw);
}

static void shuffle(struct sim *sim, struct draft *draft)
{
    for (size_t i = draft->member_count - 1; i > 0; i--) {
        size_t other = dice_below(&sim->dice, i + 1);
        struct mcpx_text swapped = draft->members[i];

        draft->members[i] = draft->members[other];
        draft->members[other] = swapped;
        if (draft->kind_at == i)
            draft->kind_at = other;
        else if (draft->kind_at == other)
            draft->kind_at = i;
    }
}

/* Writes the text as said, or as heard: stamped, and with the completed kind. */
static void write_text(const struct draft *draft, const char *stamps, struct mcpx_text *out)
{
    mcpx_text_puts(out, " {");
    mcpx_text_puts(out, stamps);
    for (size_t i = 0; i < draft->member_count; i++) {
        if (i > 0)
            mcpx_text_puts(out, ", ");
        if (i == draft->kind_at && *draft->completed) {
            mcpx_text_puts(out, "\"kind\": \"");
            mcpx_text_puts(out, draft->completed);
            mcpx_text_puts(out, "\"");
        } else {
            mcpx_text_slice(out, mcpx_text_view(&draft->members[i]));
        }
    }
    if (draft->call_error != FLAW_JSON)
        mcpx_text_puts(out, "}");
}

void draft_hear(const struct sim *sim, const struct sim_peer *peer, struct draft *draft)
{
    char stamps[120] = "", ts[MX_TIME_LEN + 1];
    size_t len = 0;

    if (!draft->has_from)
        len += (size_t)snprintf(stamps, sizeof stamps, "\"from\":\"%s\",", sim_id(peer->who));
    if (!draft->has_ts) {
        mx_time_format(sim->now.wall_ms, ts);
        snprintf(stamps + len, sizeof stamps - len, "\"ts\":\"%s\",", ts);
    }
    write_text(draft, stamps, &draft->heard);
}

void draft_fini(struct draft *draft)
{
    for (size_t i = 0; i < draft->member_count; i++)
        mcpx_text_fini(&draft->members[i]);
    mcpx_text_fini(&draft->said);
    mcpx_text_fini(&draft->heard);
}

void draft_draw(struct sim *sim, const struct sim_peer *peer, struct draft *draft)
{
    draw(sim, peer, draft);
    write_members(sim, peer, draft);
    shuffle(sim, draft);
    write_text(draft, "", &draft->said);
}
