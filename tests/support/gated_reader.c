/*
 * gated_reader.c - every envelope is compared, byte for byte, with the row that has to come next.
 * Nothing may be missing, doubled, out of order or not committed, because there is nothing to
 * search in.
 */
#include "tests/support/frames.h"
#include "tests/support/gated_state.h"

#include <stdlib.h>

static void check_row(struct gated *sim, const struct visitor *visitor, size_t serial,
                      struct mcpx_slice text)
{
    const struct fake_row *row;

    gated_require(sim, serial <= visitor->topic->committed,
                  "v%d gets more than is committed (%zu): %.*s", visitor->number,
                  visitor->topic->committed, (int)text.len, text.text);
    row = &visitor->topic->rows[serial - 1];
    gated_require(sim, mcpx_slice_equal(text, (struct mcpx_slice){row->text, row->len}),
                  "v%d gets %.*s\nexpected %.*s", visitor->number, (int)text.len, text.text,
                  (int)row->len, row->text);
}

/* ---- live traffic ---- */

static void check_live(struct gated *sim, struct visitor *visitor, struct mcpx_slice text,
                       const json_t *envelope)
{
    struct memory *memory = &visitor->memories[gated_topic_number(sim, visitor->topic)];
    size_t serial = gated_next_wanted(visitor, visitor->next);

    gated_require(sim, visitor->greeted && visitor->replays == 0,
                  "v%d gets live traffic too early", visitor->number);
    gated_require(sim, visitor->is_announced || serial <= visitor->joined_at,
                  "v%d gets #%zu before its own join", visitor->number, serial);
    check_row(sim, visitor, serial, text);
    gated_say(sim, "    v%d < #%zu %s", visitor->number, serial,
              reader_string(envelope, "id"));
    visitor->next = serial + 1;
    memory->next = visitor->next;
    reader_place_note(&memory->place, envelope);
    sim->tally->read++;
}

/* ---- history ---- */

static const char *const page_begin = "\"envelopes\":[";

static struct mcpx_slice behind(struct mcpx_slice text, size_t count)
{
    return (struct mcpx_slice){text.text + count, text.len - count};
}

static struct mcpx_slice page_body(struct mcpx_slice text)
{
    size_t len = strlen(page_begin);

    while (text.len > len && memcmp(text.text, page_begin, len) != 0)
        text = behind(text, 1);
    return behind(text, len);
}

static void check_page(struct gated *sim, struct visitor *visitor, struct mcpx_slice text,
                       const json_t *envelope)
{
    const json_t *payload = json_object_get(envelope, "payload");
    size_t count = json_array_size(json_object_get(payload, "envelopes"));
    struct mcpx_slice body = page_body(text);

    gated_require(sim, count > 0 && count <= visitor->replays, "v%d: a page of %zu",
                  visitor->number, count);
    for (size_t i = 0; i < count; i++) {
        size_t serial = gated_next_wanted(visitor, visitor->replay);
        size_t len = visitor->topic->rows[serial - 1].len;

        gated_require(sim, serial <= visitor->joined_at && body.len > len,
                      "v%d: history beyond its join", visitor->number);
        check_row(sim, visitor, serial, (struct mcpx_slice){body.text, len});
        body = behind(body, len + 1); /* and a comma, or the end */
        visitor->replay = serial + 1;
    }
    visitor->replays -= count;
    gated_say(sim, "    v%d < history of %zu", visitor->number, count);
    gated_require(
        sim, json_is_true(json_object_get(payload, "complete")) == (visitor->replays == 0),
        "history is complete, or not");
    sim->tally->pages++;
}

/* ---- frames ---- */

static void read_text(struct gated *sim, struct visitor *visitor, struct mcpx_slice text)
{
    json_t *envelope = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);

    gated_require(sim, envelope != NULL, "no JSON: %.*s", (int)text.len, text.text);
    if (strcmp(reader_string(envelope, "from"), "system:gateway") != 0)
        check_live(sim, visitor, text, envelope);
    else if (strcmp(reader_string(envelope, "kind"), "system/history") == 0)
        check_page(sim, visitor, text, envelope);
    else
        gated_told(sim, visitor, envelope);
    json_decref(envelope);
}

static void read_output(struct gated *sim, struct visitor *visitor, struct output output)
{
    struct mcpx_slice stream = {output.bytes, output.len};
    struct frame_view frame = {0};

    while (frame_cut(&stream, &frame)) {
        gated_require(sim, !visitor->closed, "v%d gets bytes behind its close frame",
                      visitor->number);
        if (frame.opcode == 1)
            read_text(sim, visitor, frame.payload);
        else
            gated_told_close(sim, visitor, frame.close_code);
    }
    gated_require(sim, stream.len == 0, "half a frame");
    gated_require(sim, output.close == visitor->closed, "close flag is %d", output.close);
}

bool gated_read(struct gated *sim, struct visitor *visitor, size_t runs)
{
    struct output output;

    while (runs-- > 0) {
        if (!peer_peek(visitor->peer, &output))
            return true;
        gated_require(sim, !peer_is_joining(visitor->peer), "v%d reads before it is in",
                      visitor->number);
        read_output(sim, visitor, output);
        peer_pop(visitor->peer);
    }
    return false;
}

void gated_read_all(struct gated *sim)
{
    struct peer *peer;

    while ((peer = hub_next_ready(sim->hub)))
        while (!gated_read(sim, peer_owner(peer), 1))
            ;
}
