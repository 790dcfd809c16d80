/*
 * Holds an expose against its transcripts (player.h), which say what would break for whom.
 *
 * The settings are plain, http, discover, channel, only PATTERN, room MODE, grants PATTERN..., and
 * server ID LISTS: who is served.
 *
 * What happens:
 *   join WELCOME, resume      we are in the topic, again after a break
 *   left CODE RETRY REASON    we are not, and try again in RETRY ms
 *   serve                     join, and the client and all servers have greeted each other; what is
 *                             done on the way is not compared
 *   present ID, nobody        who is in the topic before we hear of it
 *   come ID, go ID            participants
 *   say LINE, overlong TEXT, often N LINE   the client writes; too much; the line N times
 *   hear ID FROM TO KIND ABOUT PAYLOAD   somebody's envelope, - for none; past: from the history;
 *                             rehear: it was reported before; flood N FROM TO BYTES: chats
 *   request WHO RPC, notify WHO RPC   a participant asks, notifies; "WHO/ENVELOPE": about that
 *   answer DRAFT RESULT, response DRAFT RPC   what was sent is answered by whoever it was sent to
 *   approved, altered, rejected DRAFT PAYLOAD   a person decides on a proposal; "expired": none did
 *   hurried, refused, proposable DRAFT PAYLOAD   the router refuses: too fast; no grant; no grant,
 *                             but for a proposal
 *   behind, reading           the client does not read, reads again
 *   fails full|large|closed|no   what sending leads to from now on; "fails-once": the next time
 *   narrow BYTES              a longer response is too large
 *   abandon SENTENCE, leave   the topic will not come back; the client is gone
 *   wait MS                   time passes
 *   idle                      does the client wait at most for people?
 *   logged                    what was logged so far, by "serve" too?
 *
 * What is done: tell LINE to the client, log SENTENCE, respond ENVELOPE RPC, forget, drop ENVELOPE,
 * send DRAFT KIND to=WHO about=ENVELOPE expires=MS PAYLOAD; parts that are absent are left out.
 */
#include "tests/unit/tools/expose_world.h"
#include "tests/unit/tools/player.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { SERVERS = 4, WORDS = 24 };

struct story {
    struct world_setup setup;
    struct world_server servers[SERVERS];
    size_t server_count;
    char *kept[WORDS]; /* what settings point to */
    size_t kept_count;
    bool is_started;
    struct world world;
};

static void *begin(void)
{
    return calloc(1, sizeof(struct story));
}

static void end(void *played)
{
    struct story *story = played;

    if (story->is_started)
        world_stop(&story->world);
    while (story->kept_count > 0)
        free(story->kept[--story->kept_count]);
    free(story);
}

static char *keep(struct story *story, struct mcpx_slice text)
{
    cr_assert_lt(story->kept_count, WORDS);
    return story->kept[story->kept_count++] = strndup(text.text, text.len);
}

/* The entries of a list, without its brackets. NULL: there is no such list. */
static const char *items_of(struct story *story, struct mcpx_slice lists, const char *member)
{
    struct mcpx_slice list = mcpx_json_get(lists, member);

    if (!list.text)
        return NULL;
    return keep(story, (struct mcpx_slice){list.text + 1, list.len - 2});
}

static void add_server(struct story *story, const char *value)
{
    struct mcpx_slice id = {value, strcspn(value, " ")};
    struct mcpx_slice lists = mcpx_slice_of(value + id.len + 1);

    cr_assert_lt(story->server_count, SERVERS);
    story->servers[story->server_count++] = (struct world_server){
        keep(story, id), items_of(story, lists, "tools"), items_of(story, lists, "resources"),
        items_of(story, lists, "resourceTemplates"), items_of(story, lists, "prompts")};
}

static void add_grants(struct story *story, const char *value)
{
    for (size_t i = 0; *value; i++) {
        size_t len = strcspn(value, " ");

        cr_assert_lt(i, WORLD_GRANTS);
        story->setup.grants[i] = keep(story, (struct mcpx_slice){value, len});
        value += len + (value[len] == ' ');
    }
}

static void configure(void *played, const char *name, const char *value)
{
    struct story *story = played;

    if (strcmp(name, "plain") == 0)
        story->setup.plain = true;
    else if (strcmp(name, "http") == 0)
        story->setup.http = true;
    else if (strcmp(name, "discover") == 0)
        story->setup.discover = true;
    else if (strcmp(name, "channel") == 0)
        story->setup.channel = true;
    else if (strcmp(name, "room") == 0)
        story->setup.room = *value == 'd' ? EXPOSE_ROOM_DECIDE : EXPOSE_ROOM_TALK;
    else if (strcmp(name, "only") == 0)
        story->setup.only = keep(story, mcpx_slice_of(value));
    else if (strcmp(name, "grants") == 0)
        add_grants(story, value);
    else if (strcmp(name, "server") == 0)
        add_server(story, value);
    else
        cr_assert(false, "no such setting: %s", name);
}

/* ---- what happens ---- */

/* Events about a draft; `from` NULL: whoever it was sent to. */
static const struct {
    const char *verb, *from;
    struct mcpx_event event;
} events[] = {
    {"response", NULL, {.type = MCPX_EVENT_RESPONSE}},
    {"approved", "human", {.type = MCPX_EVENT_FULFILLING, .same = true}},
    {"altered", "human", {.type = MCPX_EVENT_FULFILLING}},
    {"rejected", "human", {.type = MCPX_EVENT_REJECTED}},
    {"expired", "system:gateway", {.type = MCPX_EVENT_EXPIRED}},
    {"hurried", "system:gateway", {.type = MCPX_EVENT_REFUSED, .err = MCPX_ERATE}},
    {"refused", "system:gateway", {.type = MCPX_EVENT_REFUSED, .err = MCPX_ECAPABILITY}},
    {"proposable",
     "system:gateway",
     {.type = MCPX_EVENT_REFUSED,
      .err = MCPX_ECAPABILITY,
      .alternative = {"mcp/proposal", 12}}},
};

static bool try_event(struct world *world, const char *verb, const char *rest)
{
    size_t number = strtoul(rest + (*rest == 'e'), NULL, 10);
    const char *payload = rest + strcspn(rest, " ");
    const struct world_draft *draft = &world->drafts[number ? number - 1 : 0];

    payload += *payload == ' ';
    if (strcmp(verb, "answer") == 0) {
        world_answer(world, draft, payload);
        return true;
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct mcpx_event event = events[i].event;

        if (strcmp(verb, events[i].verb) != 0)
            continue;
        cr_assert(number > 0 && number <= world->draft_count, "no such draft: %s", rest);
        event.tag = draft->tag;
        event.own = mcpx_slice_of(draft->id);
        world_event_with(world, &event, events[i].from ? events[i].from : draft->to, payload);
        return true;
    }
    return false;
}

static void speak(struct world *world, enum mcpx_event_type type, const char *rest)
{
    char who[64], *about;

    snprintf(who, sizeof who, "%.*s", (int)strcspn(rest, " "), rest);
    rest += strlen(who) + 1;
    about = strchr(who, '/');
    if (about)
        *about++ = '\0';
    world->about = about;
    world_event(world, type, NULL, who, rest);
    world->about = NULL;
}

/* "ID FROM TO KIND ABOUT PAYLOAD", - for none: somebody's envelope, which we see. */
static void hear(struct world *world, enum mcpx_event_type type, bool again, const char *rest)
{
    struct mcpx_envelope *envelope = calloc(1, sizeof *envelope);
    struct mcpx_rpc *rpc = calloc(1, sizeof *rpc);
    struct mcpx_event event = {.type = type, .envelope = envelope, .repeated = again};
    char words[5][64];
    int at = 0;

    cr_assert_eq(sscanf(rest, "%63s %63s %63s %63s %63s %n", words[0], words[1], words[2],
                        words[3], words[4], &at),
                 5);
    envelope->id = mcpx_slice_of(words[0]);
    envelope->from = mcpx_slice_of(words[1]);
    envelope->to_count = *words[2] != '-';
    envelope->to[0] = mcpx_slice_of(words[2]);
    mcpx_kind_parse(mcpx_slice_of(words[3]), &envelope->kind, NULL);
    if (*words[4] != '-')
        envelope->correlation_id = mcpx_slice_of(words[4]);
    envelope->text = envelope->payload = mcpx_slice_of(rest + at);
    if (mcpx_rpc_read(envelope->payload, rpc, NULL) == MCPX_OK)
        event.rpc = rpc;
    world_tell(world, &event);
    free(envelope);
    free(rpc);
}

/* "N FROM TO BYTES": chats with the ids mN to m1, if FROM begins with m. */
static void flood(struct world *world, const char *rest)
{
    char line[2200], to[64];
    int bytes;

    cr_assert_eq(sscanf(rest, "%*d %63[^0-9]%d", to, &bytes), 2);
    for (unsigned long i = strtoul(rest, NULL, 10); i > 0; i--) {
        snprintf(line, sizeof line, "%c%lu %schat - {\"text\":\"%0*d\"}", *to, i, to, bytes,
                 0);
        hear(world, MCPX_EVENT_OBSERVED, false, line);
    }
}

static void leave_topic(struct world *world, const char *rest)
{
    int code = 0, retry = 0, at = 0;

    sscanf(rest, "%d %d %n", &code, &retry, &at);
    world_tell(world, &(struct mcpx_event){.type = MCPX_EVENT_LEFT,
                                           .code = code,
                                           .retry_ms = retry,
                                           .reason = mcpx_slice_of(rest + at)});
}

static void fail(struct world *world, const char *how, bool once)
{
    world->send_fails = *how == 'f'   ? MCPX_ELIMIT
                        : *how == 'l' ? MCPX_ETOOBIG
                        : *how == 'c' ? MCPX_ECLOSED
                                      : MCPX_OK;
    world->fails_once = once;
}

static bool try_topic(struct story *story, const char *verb, const char *rest)
{
    struct world *world = &story->world;

    if (strcmp(verb, "join") == 0)
        world_event(world, MCPX_EVENT_JOINED, NULL, "system:gateway", *rest ? rest : NULL);
    else if (strcmp(verb, "resume") == 0)
        world_tell(world, &(struct mcpx_event){.type = MCPX_EVENT_JOINED, .resumed = true});
    else if (strcmp(verb, "left") == 0)
        leave_topic(world, rest);
    else if (strcmp(verb, "present") == 0)
        world->present[world->present_count++] = keep(story, mcpx_slice_of(rest));
    else if (strcmp(verb, "nobody") == 0)
        world->present_count = 0;
    else if (strcmp(verb, "come") == 0)
        world_come(world, keep(story, mcpx_slice_of(rest)));
    else if (strcmp(verb, "go") == 0)
        world_go(world, rest);
    else if (strcmp(verb, "request") == 0 || strcmp(verb, "notify") == 0)
        speak(world, *verb == 'r' ? MCPX_EVENT_REQUEST : MCPX_EVENT_NOTIFICATION, rest);
    else if (strcmp(verb, "past") == 0 || strstr(verb, "hear"))
        hear(world, *verb == 'p' ? MCPX_EVENT_HISTORY : MCPX_EVENT_OBSERVED, *verb == 'r',
             rest);
    else if (strcmp(verb, "flood") == 0)
        flood(world, rest);
    else if (strncmp(verb, "fails", 5) == 0)
        fail(world, rest, verb[5] != '\0');
    else if (strcmp(verb, "narrow") == 0)
        world->narrow = strtoul(rest, NULL, 10);
    else
        return false;
    return true;
}

/* What becomes due without anything else has asked to be woken. */
static void wait(struct world *world, long ms)
{
    int64_t due_ms = expose_deadline(world->expose);

    world_wait(world, ms);
    cr_expect(world->out.len == 0 || due_ms <= world->now.mono_ms, "not woken for: %s",
              world->out.text);
    cr_expect_gt(expose_deadline(world->expose), world->now.mono_ms, "woken for ever after");
}

static bool try_client(struct world *world, const char *verb, const char *rest)
{
    if (strcmp(verb, "say") == 0)
        world_say(world, rest);
    else if (strcmp(verb, "often") == 0)
        for (long left = strtol(rest, NULL, 10); left > 0; left--)
            world_say(world, strchr(rest, '{'));
    else if (strcmp(verb, "wait") == 0)
        wait(world, strtol(rest, NULL, 10));
    else if (strcmp(verb, "overlong") == 0)
        expose_overlong(world->expose, mcpx_slice_of(rest));
    else if (strcmp(verb, "behind") == 0 || strcmp(verb, "reading") == 0)
        world->behind = *verb == 'b';
    else if (strcmp(verb, "abandon") == 0)
        expose_abandon(world->expose, mcpx_slice_of(rest));
    else if (strcmp(verb, "leave") == 0)
        expose_leave(world->expose, world->now);
    else if (strcmp(verb, "logged") == 0)
        mcpx_text_puts(&world->out, world->notes ? world->notes : "");
    else if (strcmp(verb, "idle") == 0)
        mcpx_text_puts(&world->out, expose_is_idle(world->expose) ? "idle\n" : "busy\n");
    else
        return false;
    return true;
}

static const char *happen(void *played, const char *in)
{
    struct story *story = played;
    struct world *world = &story->world;
    char verb[16];
    const char *rest = in + strcspn(in, " ");

    snprintf(verb, sizeof verb, "%.*s", (int)(rest - in), in);
    rest += *rest == ' ';
    if (!story->is_started)
        world_start(world, &story->setup);
    story->is_started = true;
    mcpx_text_reset(&world->out);
    if (strcmp(verb, "serve") == 0) {
        world_serve(world, story->servers, story->server_count);
        mcpx_text_reset(&world->out);
        return NULL;
    }
    cr_assert(try_client(world, verb, rest) || try_topic(story, verb, rest) ||
                  try_event(world, verb, rest),
              "no such step: %s", in);
    world_fetch(world);
    return world->out.len ? world->out.text : NULL;
}

static const struct player_side expose = {"expose", begin, configure, happen, end};

static const struct {
    const char *file;
    size_t stories;
} files[] = {{"room.txt", 16},   {"consent.txt", 16}, {"life.txt", 16},
             {"others.txt", 10}, {"only.txt", 5},     {"rounds.txt", 9},
             {"said.txt", 14},   {"discover.txt", 7}, {"channel.txt", 7}};

Test(expose, does_what_is_written)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        play(&expose, files[i].file, files[i].stories);
}
