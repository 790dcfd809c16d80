/*
 * sim_reader.c - every byte a participant is sent is compared with what is left of its account:
 * the next note if the frame is private, else the next entry it wants, byte for byte; pages of
 * history are taken apart by the same comparison. Nothing may be missing, doubled or out of order,
 * because there is nothing to search in.
 */
#include "tests/support/fault_alloc.h"
#include "tests/support/frames.h"
#include "tests/support/sim_state.h"

#include <jansson.h>
#include <stdlib.h>

void sim_expect(struct sim_peer *peer, const struct sim_note *note)
{
    if (peer->note_count == peer->note_size) {
        peer->note_size = peer->note_size ? peer->note_size * 2 : 4;
        peer->notes = realloc(peer->notes, peer->note_size * sizeof *peer->notes);
    }
    peer->notes[peer->note_count++] = *note;
}

void sim_advance(struct sim_peer *peer)
{
    while (peer->next < peer->topic->count && !sim_wants(peer, peer->next))
        peer->next++;
}

/* ---- history ---- */

static bool starts_with(struct mcpx_slice text, const char *prefix)
{
    return text.len >= strlen(prefix) && memcmp(text.text, prefix, strlen(prefix)) == 0;
}

static struct mcpx_slice behind(struct mcpx_slice text, size_t count)
{
    return (struct mcpx_slice){text.text + count, text.len - count};
}

/* What follows `mark` in the head of an envelope of the router's own; absent when it is none. */
static struct mcpx_slice router_head(struct mcpx_slice text, const char *mark)
{
    if (!starts_with(text, "{\"protocol\":\"mcpx/v0.1\",\"id\":\""))
        return (struct mcpx_slice){0};
    for (size_t at = 0; at < 300 && at < text.len; at++)
        if (starts_with(behind(text, at), mark))
            return behind(text, at + strlen(mark));
    return (struct mcpx_slice){0};
}

static struct mcpx_slice page_body(struct mcpx_slice text)
{
    return router_head(text, "\"kind\":\"system/history\",\"payload\":{\"envelopes\":[");
}

static bool is_private(struct mcpx_slice text)
{
    return router_head(text, "\"from\":\"system:gateway\",\"to\":[").text != NULL;
}

static void check_page(struct sim *sim, struct sim_peer *peer, struct mcpx_slice text)
{
    struct mcpx_slice body = page_body(text);
    size_t count = 0;

    for (; body.len > 0 && *body.text != ']'; count++) {
        const struct sim_entry *entry = &peer->topic->entries[peer->next];

        if (count > 0) {
            sim_require(sim, *body.text == ',', "page: %.*s", (int)body.len, body.text);
            body = behind(body, 1);
        }
        sim_require(sim, peer->next < peer->replay_end, "page beyond history for p%d",
                    peer->who);
        sim_require(sim,
                    body.len > entry->len && memcmp(body.text, entry->text, entry->len) == 0,
                    "p%d got %.*s\nexpected %.*s", peer->who, (int)body.len, body.text,
                    (int)entry->len, entry->text);
        body = behind(body, entry->len);
        peer->next++;
        sim_advance(peer);
    }
    sim_require(sim, count > 0, "p%d got an empty page", peer->who);
    sim_require(sim, count == 1 || text.len <= 262144, "page of %zu bytes", text.len);
    sim_require(sim,
                mcpx_slice_equal(body, mcpx_slice_of(peer->next >= peer->replay_end
                                                         ? "],\"complete\":true}}"
                                                         : "],\"complete\":false}}")),
                "page ends %.*s", (int)body.len, body.text);
    sim->expected.replayed += count;
    sim->tally->pages++;
    sim_say(sim, "    p%d < history of %zu", peer->who, count);
}

/* ---- live traffic ---- */

static void check_live(struct sim *sim, struct sim_peer *peer, struct mcpx_slice text)
{
    const struct sim_entry *entry;

    sim_require(sim, peer->next < peer->topic->count, "p%d got more than there is: %.*s",
                peer->who, (int)text.len, text.text);
    entry = &peer->topic->entries[peer->next];
    sim_require(sim, mcpx_slice_equal(text, (struct mcpx_slice){entry->text, entry->len}),
                "p%d got %.*s\nexpected %.*s", peer->who, (int)text.len, text.text,
                (int)entry->len, entry->text);
    sim_require(
        sim, !entry->presence || peer->next < peer->topic->told || peer->next == peer->joined,
        "p%d is told what is not published", peer->who);
    sim_say(sim, "    p%d < %s #%zu", peer->who, entry->id, peer->next);
    sim_note_place(sim, peer, entry);
    peer->next++;
    if (peer->topic->read[peer->who] < peer->next) /* a welcome may have said more */
        peer->topic->read[peer->who] = peer->next;
    sim->expected.written++;
    sim->tally->live++;
}

static void read_text(struct sim *sim, struct sim_peer *peer, struct mcpx_slice text)
{
    bool is_page = page_body(text).text != NULL;

    if (!is_page && is_private(text)) {
        sim_read_private(sim, peer, text);
        return;
    }
    sim_require(sim, !peer->disconnected, "p%d reads on, though disconnected", peer->who);
    sim_require(sim, peer->note_count == 0, "p%d: a private frame is late", peer->who);
    sim_advance(peer);
    sim_require(sim, is_page == (peer->next < peer->replay_end), "p%d: page is %d", peer->who,
                is_page);
    if (is_page)
        check_page(sim, peer, text);
    else
        check_live(sim, peer, text);
}

static void read_output(struct sim *sim, struct sim_peer *peer, struct output output)
{
    struct mcpx_slice stream = {output.bytes, output.len};
    struct frame_view frame = {0};
    size_t frames = 0;

    if (output.len == 0) { /* there was no memory for its close frame */
        sim_require(sim, output.close && !peer->closed, "an empty run");
        peer->closed = true;
    }
    while (frame_cut(&stream, &frame)) {
        sim_require(sim, !peer->closed, "p%d got bytes behind its close frame", peer->who);
        frames++;
        if (frame.opcode == MX_TEXT)
            read_text(sim, peer, frame.payload);
        else if (frame.opcode == MX_CLOSE)
            sim_read_close(sim, peer, frame.close_code);
        else
            sim_require(sim, frame.opcode == MX_PING && sim->config.ping_ms, "opcode %d",
                        frame.opcode);
    }
    sim_require(sim, stream.len == 0, "half a frame");
    sim_require(sim, output.close == peer->closed, "close flag is %d", output.close);
    sim_require(sim,
                frames == 1 || peer->peer->peeked != PEEK_RUN || output.len <= LOG_RUN_MAX,
                "a run of %zu bytes", output.len);
}

/* ---- pulling ---- */

bool sim_pull(struct sim *sim, struct sim_peer *peer, size_t runs)
{
    while (runs-- > 0) {
        struct output output;
        bool more;

        sim_fault_begin(sim);
        more = peer_peek(peer->peer, &output);
        sim_fault_end(sim);
        if (!peer->disconnected && peer->note_count == 0)
            sim_advance(peer);
        sim_sync(sim);
        if (!more)
            return true;
        sim->expected.runs++;
        read_output(sim, peer, output);
        peer_pop(peer->peer);
    }
    return false;
}

/* When nobody's turn is left, nobody who takes bytes may be waiting for any. */
static void check_idle(struct sim *sim)
{
    for (size_t i = 0; i < SIM_PEERS; i++) {
        struct sim_peer *peer = &sim->peers[i];

        if (!peer->peer || peer->stalled || (peer->joining && !peer->disconnected))
            continue;
        if (!peer->disconnected)
            sim_advance(peer);
        sim_require(sim, peer->note_count == 0 || peer->lossy, "p%d waits for a private frame",
                    peer->who);
        sim_require(sim,
                    peer->disconnected || peer->next == peer->topic->count ||
                        (peer->next >= peer->topic->told && peer->next != peer->joined),
                    "p%d waits at #%zu of %zu", peer->who, peer->next, peer->topic->count);
        sim_require(sim, !peer->disconnected || peer->closed || peer->lossy,
                    "p%d never closed", peer->who);
    }
}

void sim_pull_all(struct sim *sim)
{
    struct peer *peer;

    while ((peer = hub_next_ready(sim->hub)))
        while (!sim_pull(sim, peer_owner(peer), 1))
            ;
    check_idle(sim);
    sim_require(sim, !hub_is_pressed(sim->hub), "pressed with nothing to write");
}
