/*
 * gated_talk.c - what is said, and what has to become of it at once: accepted and pending, or
 * answered. What is pending counts as said for whoever uses its id or answers it.
 */
#include "tests/support/gated_state.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const kinds[] = {"chat", "mcp/request:tools/call:t1",
                                    "mcp/request:tools/call:t2", "mcp/response:tools/call"};
enum { CHAT, REQUEST, REQUEST_2, RESPONSE, KINDS };

struct message *gated_message(struct gated *sim, const char *id)
{
    size_t number = *id == 'm' ? (size_t)strtoul(id + 1, NULL, 10) : sim->message_count;

    return number < sim->message_count ? &sim->messages[number] : NULL;
}

static size_t text_of(const struct message *message, size_t number, char *out, size_t size)
{
    int len =
        snprintf(out, size, "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%zu\",\"kind\":\"%s\"",
                 number, message->kind_sent);

    if (*message->to)
        len += snprintf(out + len, size - (size_t)len, ",\"to\":[\"%s\"]", message->to);
    if (*message->about)
        len += snprintf(out + len, size - (size_t)len, ",\"correlation_id\":\"%s\"",
                        message->about);
    len += snprintf(out + len, size - (size_t)len, ",\"payload\":{\"n\":%zu,\"pad\":\"%*s\"}}",
                    number, (int)(number % 7 * number % 7 * 20), "");
    return (size_t)len;
}

/* What is accepted and not answered, as it was said: of everybody, and of one participant. */
struct load {
    size_t count, bytes, own_count, own_bytes;
};

static struct load load_of(const struct gated *sim, const struct visitor *visitor)
{
    struct load load = {0};
    char text[1024];

    for (size_t i = 0; i < sim->message_count; i++) {
        const struct message *message = &sim->messages[i];
        bool is_own = sim->visitors[message->visitor].identity == visitor->identity;
        size_t len;

        if (message->state != PENDING)
            continue;
        len = text_of(message, i, text, sizeof text);
        load.bytes += len;
        load.count++;
        load.own_bytes += is_own ? len : 0;
        load.own_count += is_own;
    }
    return load;
}

/* ---- drawing one ---- */

static size_t new_message(struct gated *sim)
{
    if (sim->message_count == sim->message_size) {
        sim->message_size = sim->message_size ? sim->message_size * 2 : 256;
        sim->messages = realloc(sim->messages, sim->message_size * sizeof *sim->messages);
    }
    sim->messages[sim->message_count] = (struct message){0};
    return sim->message_count++;
}

/* One of this topic that somebody said lately; SIZE_MAX when chance finds none. */
static size_t lately_said(struct gated *sim, const struct fake_topic *topic)
{
    for (size_t tries = 0; tries < 4 && sim->message_count > 0; tries++) {
        size_t back =
            1 + dice_below(&sim->dice, sim->message_count < 30 ? sim->message_count : 30);

        if (sim->messages[sim->message_count - back].topic == topic)
            return sim->message_count - back;
    }
    return SIZE_MAX;
}

static size_t draw(struct gated *sim, const struct visitor *visitor)
{
    size_t kind = dice_hits(&sim->dice, 2) ? dice_below(&sim->dice, KINDS) : CHAT;
    size_t about = lately_said(sim, visitor->topic), number = new_message(sim);
    struct message *message = &sim->messages[number];

    message->topic = visitor->topic;
    strcpy(message->kind_sent, kinds[kind]);
    if (dice_hits(&sim->dice, 4))
        strcpy(message->to, sim->visitors[dice_below(&sim->dice, VISITORS)].identity);
    if (kind != RESPONSE || about == SIZE_MAX)
        return number;
    snprintf(message->about, sizeof message->about, "m%zu", about);
    message->to[0] = '\0';
    return number;
}

/* ---- what has to become of it ---- */

/* Pending, or within the bounds of history. */
static bool is_retained(const struct gated *sim, const struct message *message, const char *id)
{
    const struct fake_topic *topic = message->topic;
    size_t serial = gated_find(topic, id);

    return message->state == PENDING ||
           (serial > 0 && serial >= gated_oldest(sim, topic, topic->committed));
}

/* Protocol section 4: an answer to everybody takes the rest of the request's kind. */
static void complete(struct gated *sim, struct message *message)
{
    const struct message *request = gated_message(sim, message->about);

    strcpy(message->kind, message->kind_sent);
    if (strcmp(message->kind, kinds[RESPONSE]) != 0 || !request ||
        !is_retained(sim, request, message->about) ||
        (strcmp(request->kind, kinds[REQUEST]) != 0 &&
         strcmp(request->kind, kinds[REQUEST_2]) != 0))
        return;
    strcat(message->kind, strrchr(request->kind, ':'));
    sim->tally->derived++;
}

/*
 * The hub counts what it allocates for them: somewhat more than the text. Nobody holds more than a
 * quarter; a message that is larger than that comes through alone.
 */
static void check_limit(struct gated *sim, const struct load *load, size_t len,
                        enum mcpx_err err)
{
    size_t most = sim->config.pending_bytes, room = 1024 * (load->count + 1);
    size_t all = load->bytes, own = load->own_bytes, cap = most / PENDING_OWNERS;

    if (err == MCPX_EUNAVAILABLE)
        gated_require(sim, all + len + room > most || own + len + room > cap,
                      "%zu bytes are too many", all);
    else if (!err)
        gated_require(sim, (!all || all <= most) && (!own || own <= cap),
                      "%zu bytes are not too many", all);
    sim->tally->limited += err == MCPX_EUNAVAILABLE;
}

/* Spent ids are few enough here to be all remembered, of those that this hub has had. */
static enum mcpx_err foresee(const struct visitor *visitor, const struct message *message,
                             const char *id)
{
    size_t serial = gated_find(message->topic, id);

    if (message->state == PENDING || (serial && serial >= message->topic->loaded_from))
        return MCPX_EDUPLICATE;
    return visitor->may_call || strcmp(message->kind, "chat") == 0 ? MCPX_OK
                                                                   : MCPX_ECAPABILITY;
}

static void owe(struct gated *sim, struct visitor *visitor, const char *id, enum mcpx_err err)
{
    struct owed *owed = &visitor->owed[visitor->owed_count++];

    gated_require(sim, visitor->owed_count < NOTES_MAX, "too many errors to read");
    *owed = (struct owed){.err = err, .is_certain = true};
    strcpy(owed->id, id);
}

static void accept(struct gated *sim, const struct visitor *visitor, struct message *message)
{
    message->state = PENDING;
    message->order = ++sim->orders;
    message->visitor = (size_t)visitor->number;
    message->connection = visitor->connection;
    strcpy(message->from, visitor->id);
    sim->tally->accepted++;
}

static void say(struct gated *sim, struct visitor *visitor, size_t number)
{
    struct message message = sim->messages[number];
    struct load load = load_of(sim, visitor);
    enum mcpx_err expected;
    struct verdict verdict;
    char text[1024], id[FAKE_ID];
    size_t len = text_of(&message, number, text, sizeof text);

    snprintf(id, sizeof id, "m%zu", number);
    complete(sim, &message);
    expected = foresee(visitor, &message, id);
    hub_route(sim->hub, visitor->peer, (struct mcpx_slice){text, len}, sim->now, &verdict);
    gated_say(sim, "v%d says m%zu %s (about %s, to %s): %s", visitor->number, number,
              message.kind_sent, message.about, message.to, mcpx_strerror(verdict.err));
    gated_require(sim,
                  verdict.err == expected || (!expected && verdict.err == MCPX_EUNAVAILABLE),
                  "expected: %s", mcpx_strerror(expected));
    check_limit(sim, &load, len, verdict.err);
    sim->tally->duplicates += verdict.err == MCPX_EDUPLICATE;
    if (verdict.err) {
        owe(sim, visitor, id, verdict.err);
        return;
    }
    accept(sim, visitor, &message);
    sim->messages[number] = message;
}

void gated_talk(struct gated *sim, struct visitor *visitor)
{
    size_t number = SIZE_MAX;
    struct verdict verdict;

    if (visitor->state != THERE)
        return;
    if (peer_is_condemned(visitor->peer) || peer_is_joining(visitor->peer)) {
        hub_route(sim->hub, visitor->peer, MCPX_SLICE("{}"), sim->now, &verdict);
        gated_require(sim,
                      verdict.err ==
                          (peer_is_condemned(visitor->peer) ? MCPX_ECLOSED : MCPX_EOPENING),
                      "heard when it should not be: %s", mcpx_strerror(verdict.err));
        return;
    }
    peer_heard(visitor->peer, sim->now);
    if (dice_hits(&sim->dice, 5))
        number = lately_said(sim, visitor->topic);
    say(sim, visitor, number == SIZE_MAX ? draw(sim, visitor) : number);
}
