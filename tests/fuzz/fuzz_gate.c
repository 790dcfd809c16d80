/*
 * fuzz_gate.c - bytes decide who joins, says, goes and reads, and what a store does with each task:
 * in which order it answers, what it refuses, which topics it loads when. Whatever they decide:
 *
 *   - what anybody reads was committed, in the order of commits, without a gap from its join on;
 *   - history is what was committed just before that;
 *   - what was accepted is committed or answered, and never both;
 *   - who is told of comings and goings knows in the end who is there.
 */
#include "router/store/commit/submission.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/dice.h"
#include "tests/support/frames.h"
#include "tests/support/hub_defaults.h"

#include <stdio.h>
#include <stdlib.h>

enum { TOPICS = 2, PEOPLE = 4, GUESTS = 256, MESSAGES = 2048, TASKS = 512, STEPS = 3000 };

enum fate { UNSAID, PENDING, COMMITTED, REJECTED, REFUSED };

/**
 * One connection.
 *
 * next      place of the next message it has to read, once its join is committed
 * page      place of the next message of history
 * roster    a bit for each participant it knows to be there
 */
struct guest {
    struct peer *peer;
    size_t person, topic, next, joined, page;
    bool welcomed;
    unsigned roster;
};

struct message {
    enum fate fate;
    struct guest *sender; /* NULL once it is gone */
    unsigned answers;
};

/** What a topic's store holds: numbers of messages, in order of their commits. */
struct shelf {
    char epoch[33];
    size_t messages[MESSAGES];
    size_t count;
};

static struct game {
    struct dice dice, chance;
    struct mcpx_now now;
    struct hub *hub;
    struct grant *grants[PEOPLE];
    struct guest guests[GUESTS];
    struct message messages[MESSAGES];
    struct shelf shelves[TOPICS];
    struct task tasks[TASKS];
    size_t guest_count, said, task_count;
} game;

static const char *const topics[TOPICS] = {"t0", "t1"};

static void require(bool holds, const char *what)
{
    if (!holds && fprintf(stderr, "gate: %s\n", what))
        abort();
}

static void fill(void *context, void *bytes, size_t len)
{
    (void)context;
    for (size_t i = 0; i < len; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(dice_bits(&game.chance) >> 24);
}

/* ---- reading ---- */

/* The first place of `part` in the text, from `at` on; NULL when it is not there. */
static const char *find(struct mcpx_slice text, const char *at, const char *part)
{
    size_t len = strlen(part);
    const char *end = text.text + text.len;

    while ((at = memchr(at, part[0], (size_t)(end - at))) && (size_t)(end - at) >= len)
        if (memcmp(at++, part, len) == 0)
            return at - 1 + len;
    return NULL;
}

static size_t number_at(const char *at)
{
    size_t number = strtoul(at, NULL, 10);

    require(number < game.said, "somebody reads what nobody said");
    return number;
}

static void read_message(struct guest *guest, size_t number)
{
    const struct shelf *shelf = &game.shelves[guest->topic];

    require(guest->welcomed, "a message is read before the welcome");
    require(guest->next < shelf->count, "what is read is not committed");
    require(shelf->messages[guest->next] == number, "what is read is out of order");
    guest->next++;
}

/* Its pages leave nothing out, and end right before its join. */
static void read_history(struct guest *guest, struct mcpx_slice text)
{
    const struct shelf *shelf = &game.shelves[guest->topic];
    const char *at = text.text;

    while ((at = find(text, at, "\"id\":\"m"))) {
        size_t number = number_at(at);

        if (guest->page == 0)
            while (guest->page < guest->joined && shelf->messages[guest->page] != number)
                guest->page++;
        require(guest->page < guest->joined && shelf->messages[guest->page] == number,
                "history is not what was committed");
        guest->page++;
    }
    if (find(text, text.text, "\"complete\":true"))
        require(guest->page == guest->joined, "history ends too early");
}

static void read_welcome(struct guest *guest, struct mcpx_slice text)
{
    const char *at = find(text, text.text, "\"participants\":[");
    const char *end = find(text, at, "\"topic\":");

    require(!peer_is_joining(guest->peer), "a welcome comes before the join is committed");
    guest->welcomed = true;
    guest->roster = 1u << guest->person;
    while ((at = find(text, at, "\"id\":\"p")) && at < end)
        guest->roster |= 1u << (*at - '0');
}

static void read_presence(struct guest *guest, struct mcpx_slice text)
{
    unsigned bit = 1u << (*find(text, text.text, "\"participant\":{\"id\":\"p") - '0');

    require(guest->welcomed, "presence is read before the welcome");
    if (find(text, text.text, "\"event\":\"join\""))
        guest->roster |= bit;
    if (find(text, text.text, "\"event\":\"leave\""))
        guest->roster &= ~bit;
}

static void read_error(struct mcpx_slice text)
{
    const char *at = find(text, text.text, "\"correlation_id\":\"m");
    struct message *message;

    if (!at || !find(text, text.text, "\"error\":\"unavailable\""))
        return;
    message = &game.messages[number_at(at)];
    require(message->fate == REJECTED || message->fate == REFUSED,
            "what is answered is not refused");
    require(message->answers++ == 0, "it is answered twice");
}

static void read_text(struct guest *guest, struct mcpx_slice text)
{
    const char *kind = find(text, text.text, "\"kind\":\"");

    if (strncmp(kind, "chat", 4) == 0)
        read_message(guest, number_at(find(text, text.text, "\"id\":\"m")));
    else if (strncmp(kind, "system/history", 14) == 0)
        read_history(guest, text);
    else if (strncmp(kind, "system/welcome", 14) == 0)
        read_welcome(guest, text);
    else if (strncmp(kind, "system/presence", 15) == 0)
        read_presence(guest, text);
    else if (strncmp(kind, "system/error", 12) == 0)
        read_error(text);
}

static void depart(struct guest *guest)
{
    hub_depart(game.hub, guest->peer, MCPX_ECLOSED, game.now);
    guest->peer = NULL;
    for (size_t i = 0; i < game.said; i++)
        if (game.messages[i].sender == guest)
            game.messages[i].sender = NULL;
}

static void read_peer(struct peer *peer)
{
    struct guest *guest = peer_owner(peer);
    struct output output = {.close = false};
    struct frame_view frame;

    while (!output.close && peer_peek(peer, &output)) {
        struct mcpx_slice stream = {output.bytes, output.len};

        while (stream.len > 0 && frame_cut(&stream, &frame))
            if (frame.opcode == 1)
                read_text(guest, frame.payload);
        peer_pop(peer);
    }
    if (output.close)
        depart(guest);
}

static void read_all(void)
{
    struct peer *peer;

    while ((peer = hub_next_ready(game.hub)))
        read_peer(peer);
}

/* ---- the store ---- */

static struct shelf *shelf_of(struct mcpx_slice topic)
{
    return &game.shelves[topic.text[1] - '0'];
}

static void take(void)
{
    struct task task;

    while (game.task_count < TASKS && hub_next_task(game.hub, &task)) {
        if (task.kind != TASK_CLOSE)
            game.tasks[game.task_count++] = task;
    }
}

static void load(const struct task *task)
{
    const struct shelf *shelf = shelf_of(task->topic);
    struct stored_topic topic = {mcpx_slice_of(shelf->epoch), 1};

    if (shelf->count == 0)
        return;
    require(hub_load_topic(game.hub, task->ticket, &topic) == MCPX_OK, "it is not loaded");
    for (size_t i = 0; i < shelf->count; i++) {
        char text[128];
        struct stored_envelope envelope = {.wall_ms = game.now.wall_ms};

        snprintf(text, sizeof text,
                 "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%zu\",\"from\":\"p0\","
                 "\"kind\":\"chat\",\"payload\":{}}",
                 shelf->messages[i]);
        envelope.text = mcpx_slice_of(text);
        require(hub_load(game.hub, task->ticket, &envelope) == MCPX_OK, "it is not loaded");
    }
}

static void shelve(const struct submission *submission)
{
    struct shelf *shelf = shelf_of(submission->topic);
    size_t number = number_at(submission->id.text + 1);

    require(game.messages[number].fate == PENDING, "what is stored is not pending");
    game.messages[number].fate = COMMITTED;
    snprintf(shelf->epoch, sizeof shelf->epoch, "%.*s", (int)submission->epoch.len,
             submission->epoch.text);
    shelf->messages[shelf->count++] = number;
}

static struct task take_out(void)
{
    size_t at = dice_below(&game.dice, game.task_count);
    struct task task = game.tasks[at];

    memmove(game.tasks + at, game.tasks + at + 1,
            (game.task_count - at - 1) * sizeof *game.tasks);
    game.task_count--;
    return task;
}

static void commit(void)
{
    bool waits[GUESTS];
    struct task task = take_out();

    for (size_t i = 0; i < game.guest_count; i++)
        waits[i] = game.guests[i].peer && peer_is_joining(game.guests[i].peer);
    if (task.kind == TASK_OPEN)
        load(&task);
    else if (task.submission->what == SUBMIT_MESSAGE)
        shelve(task.submission);
    hub_commit(game.hub, task.ticket, game.now);
    for (size_t i = 0; i < game.guest_count; i++) {
        struct guest *guest = &game.guests[i];

        if (waits[i] && !peer_is_joining(guest->peer))
            guest->next = guest->joined = game.shelves[guest->topic].count;
    }
}

static void reject(void)
{
    struct rejection rejection = {MCPX_EUNAVAILABLE, (int64_t)dice_below(&game.dice, 2000),
                                  dice_hits(&game.dice, 2)};
    struct task task = take_out();

    if (task.kind == TASK_STORE && task.submission->what == SUBMIT_MESSAGE) {
        struct message *message = &game.messages[number_at(task.submission->id.text + 1)];

        require(message->fate == PENDING, "what is refused is not pending");
        message->fate = REJECTED;
        if (message->sender && peer_is_condemned(message->sender->peer))
            message->sender = NULL;
    }
    hub_reject(game.hub, task.ticket, &rejection, game.now);
}

/* ---- people ---- */

static struct guest *anybody(void)
{
    struct guest *guest = NULL;

    if (game.guest_count > 0)
        guest = &game.guests[dice_below(&game.dice, game.guest_count)];
    return guest && guest->peer ? guest : NULL;
}

static void join(void)
{
    size_t person = dice_below(&game.dice, PEOPLE), topic = dice_below(&game.dice, TOPICS);
    struct admission admission = {.topic = mcpx_slice_of(topics[topic])};
    struct guest *guest = &game.guests[game.guest_count];
    struct peer *peer;
    enum mcpx_err err;

    if (game.guest_count == GUESTS)
        return;
    err = hub_admit(game.hub, game.grants[person], &admission, guest, game.now, &peer);
    if (err == MCPX_EOPENING)
        (void)hub_open(game.hub, game.grants[person], admission.topic, game.now);
    if (err)
        return;
    *guest = (struct guest){.peer = peer, .person = person, .topic = topic};
    game.guest_count++;
    require(peer_is_joining(peer), "a join is not pending");
}

static void say(struct guest *guest)
{
    struct message *message = &game.messages[game.said];
    struct verdict verdict;
    char text[2200];
    int len;

    if (game.said == MESSAGES)
        return;
    len = snprintf(text, sizeof text,
                   "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%zu\",\"kind\":\"chat\","
                   "\"payload\":{\"x\":\"%0*d\"}}",
                   game.said, 1 + (int)dice_below(&game.dice, 2000), 0);
    hub_route(game.hub, guest->peer, (struct mcpx_slice){text, (size_t)len}, game.now,
              &verdict);
    require(verdict.err != MCPX_EOPENING || peer_is_joining(guest->peer), "it has to wait");
    if (verdict.err == MCPX_OK || verdict.err == MCPX_EUNAVAILABLE)
        message->fate = verdict.err == MCPX_OK ? PENDING : REFUSED;
    message->sender = guest;
    game.said++;
}

static void wait_for(int64_t ms)
{
    game.now.mono_ms += ms;
    game.now.wall_ms += ms;
    (void)hub_tick(game.hub, game.now);
}

/* Something that needs somebody. */
static void act(struct guest *guest, size_t choice)
{
    if (choice < 5)
        say(guest);
    else if (choice < 6)
        depart(guest);
    else if (choice < 7)
        hub_condemn(game.hub, guest->peer, MCPX_EKICKED, game.now);
    else if (choice < 8)
        (void)hub_regrant(game.hub, guest->peer, game.grants[guest->person], game.now);
    else if (choice < 9)
        peer_stall(guest->peer);
    else
        peer_unstall(guest->peer, game.now);
}

static void step(void)
{
    static const int64_t pauses[] = {1, 60, 1000, 6000};
    size_t choice = dice_below(&game.dice, 24);
    struct guest *guest;

    if (choice < 10 && (guest = anybody()))
        act(guest, choice);
    else if (choice < 14)
        join();
    else if (choice < 15)
        wait_for(pauses[dice_below(&game.dice, 4)]);
    else if (choice < 17)
        take();
    else if (choice < 21 && game.task_count > 0)
        commit();
    else if (choice < 22 && game.task_count > 0)
        reject();
    else
        read_all();
}

/* ---- games ---- */

static void begin(struct mcpx_slice bytes)
{
    struct mcpx_grant everything = {.pattern = MCPX_SLICE("*")};
    struct hub_config config = hub_config_default();
    struct mcpx_capset *capset;

    game = (struct game){.dice = dice_of_bytes(bytes), .chance = dice_of_seed(1)};
    game.now = (struct mcpx_now){1000, 1767225600000};
    config.gated = true;
    config.stored = dice_hits(&game.dice, 2);
    config.audited = dice_hits(&game.dice, 2);
    config.pending_bytes = dice_hits(&game.dice, 2) ? 0 : 8192;
    config.topics_max = dice_hits(&game.dice, 2) ? 1 : 10;
    config.linger_ms = dice_hits(&game.dice, 2) ? 0 : 3000;
    config.history_count = MESSAGES;
    config.messages_per_minute = config.bytes_per_minute = config.joins_per_minute = 0;
    config.ping_ms = 0;
    config.open_ms = 5000;
    game.hub = hub_new(&config, (struct chance){fill, NULL});
    require(mcpx_capset_new(&everything, 1, NULL, 0, NULL, NULL, &capset) == MCPX_OK,
            "capset");
    for (size_t i = 0; i < PEOPLE; i++) {
        char name[] = {'p', (char)('0' + i), '\0'};

        game.grants[i] = grant_new(mcpx_slice_of(name), capset, ROUTING_DEFAULT, 0);
    }
    mcpx_capset_unref(capset);
}

/* Everything that is pending is stored, and everybody reads it. */
static void settle(void)
{
    for (int round = 0; round < 4; round++) {
        for (take(); game.task_count > 0; take())
            commit();
        wait_for(1000);
        for (size_t i = 0; i < game.guest_count; i++)
            if (game.guests[i].peer)
                peer_unstall(game.guests[i].peer, game.now);
        read_all();
    }
}

static void check_end(void)
{
    unsigned there[TOPICS] = {0};

    require(hub_pending(game.hub) == 0, "something is pending for ever");
    for (size_t i = 0; i < game.guest_count; i++)
        if (game.guests[i].peer)
            there[game.guests[i].topic] |= 1u << game.guests[i].person;
    for (size_t i = 0; i < game.guest_count; i++) {
        const struct guest *guest = &game.guests[i];

        if (!guest->peer)
            continue;
        require(guest->welcomed, "somebody was never welcomed");
        require(guest->next == game.shelves[guest->topic].count, "somebody missed something");
        require(guest->roster == there[guest->topic], "somebody does not know who is there");
    }
    for (size_t i = 0; i < game.said; i++) {
        const struct message *message = &game.messages[i];
        bool refused = message->fate == REJECTED || message->fate == REFUSED;

        require(message->fate != PENDING, "a message is neither committed nor answered");
        require(!refused || !message->sender || message->answers == 1,
                "a sender was not told of a refusal");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    begin((struct mcpx_slice){(const char *)bytes, len});
    for (int i = 0; i < STEPS && !dice_is_over(&game.dice); i++)
        step();
    if (!dice_hits(&game.dice, 8) || len % 8 > 0) { /* else all ends in the middle of it */
        settle();
        check_end();
    }
    hub_free(game.hub);
    for (size_t i = 0; i < PEOPLE; i++)
        grant_unref(game.grants[i]);
    return 0;
}
