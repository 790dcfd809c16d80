/*
 * stage.c - turns a session by hand and writes its events down.
 *
 *     joined; resumed; renamed            left 1006 gone; again | left 4001 x; final
 *     presence leave bob                  grants
 *     request r1 from bob; proposal p1 of ann
 *     violation other_sender r1 from eve
 *     response r2 from bob; own q         refused q capability_violation; alternative
 *                                         mcp/proposal:x
 *     expired q                           fulfilling r3 from bob; own p; same
 *
 * An event is its name, the id and sender of its envelope, and what else is filled.
 */
#include "tests/support/stage.h"
#include "lib/base/scoped.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct stage stage;

void stage_fill(void *context, void *bytes, size_t len)
{
    (void)context;
    for (size_t i = 0; i < len; i++) {
        stage.random = stage.random * 6364136223846793005u + 1442695040888963407u;
        ((unsigned char *)bytes)[i] = (unsigned char)(stage.random >> 56);
    }
}

struct mcpx_session_config stage_config(void)
{
    return (struct mcpx_session_config){.observe = true, .fill = stage_fill};
}

void stage_set(const struct mcpx_session_config *config)
{
    struct mcpx_session_config standard = stage_config();

    stage_clear();
    stage = (struct stage){.now = {1000, 1767225600000}, .random = 1};
    cr_assert_eq(mcpx_session_new(config ? config : &standard, &stage.session), MCPX_OK);
}

void stage_begins_with(const struct mcpx_session_config *config)
{
    stage_set(config);
    stage_joins();
}

void stage_begins(void)
{
    stage_begins_with(NULL);
}

void stage_joins(void)
{
    mcpx_session_connected(stage.session, stage.now);
    cr_assert_eq(stage_hears(STAGE_WELCOME), MCPX_OK);
    stage_expect("joined w from system:gateway\n");
}

void stage_comes(const char *welcome)
{
    mcpx_session_connected(stage.session, stage.now);
    stage_hears(welcome);
}

/* ---- texts ---- */

static const char *id_of(const char *name, size_t len)
{
    for (size_t i = stage.count; i > 0; i--)
        if (strlen(stage.names[i - 1]) == len && memcmp(stage.names[i - 1], name, len) == 0)
            return stage.ids[i - 1];
    cr_assert_fail("nothing was sent as %.*s", (int)len, name);
    return NULL;
}

/* ' to ", @NAME to the id. */
static void write_out(const char *text, struct mcpx_text *out)
{
    for (; *text; text++) {
        if (*text == '@') {
            size_t len = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789");

            mcpx_text_puts(out, id_of(text + 1, len));
            text += len;
        } else {
            mcpx_text_add(out, *text == '\'' ? "\"" : text, 1);
        }
    }
}

void stage_compose(const char *text, struct mcpx_text *out)
{
    if (text[0] == '{' && strncmp(text, "{'protocol'", 11) != 0) {
        mcpx_text_puts(out, "{\"protocol\":\"mcpx/v0.1\",");
        text++;
    }
    write_out(text, out);
    if (out->len > 0 && out->text[0] == '{' && !strstr(out->text, "\"payload\"")) {
        out->len--;
        mcpx_text_puts(out, ",\"payload\":{}}");
    }
}

enum mcpx_err stage_hears(const char *text)
{
    struct mcpx_text whole = {0};
    enum mcpx_err err;
    char *copy;

    stage_compose(text, &whole);
    copy = malloc(whole.len + 1); /* so that a sanitizer sees a read past the end */
    cr_assert_not_null(copy);
    if (whole.len)
        memcpy(copy, whole.text, whole.len);
    err = mcpx_session_receive(stage.session, (struct mcpx_slice){copy, whole.len}, stage.now);
    free(copy);
    mcpx_text_fini(&whole);
    return err;
}

/* ---- sending ---- */

static void note_id(const char *name, struct mcpx_slice id)
{
    cr_assert_lt(stage.count, (size_t)STAGE_NAMES_MAX);
    stage.names[stage.count] = name;
    snprintf(stage.ids[stage.count++], sizeof stage.ids[0], "%.*s", (int)id.len, id.text);
}

void stage_names(const char *name, const char *id)
{
    note_id(name, mcpx_slice_of(id));
}

static enum mcpx_err send_draft(const char *name, struct mcpx_draft *draft,
                                const char *payload)
{
    struct mcpx_text text = {0};
    struct mcpx_slice id;
    struct mcpx_fault fault;
    enum mcpx_err err;

    write_out(payload, &text);
    draft->payload = mcpx_text_view(&text);
    draft->tag = (char *)name;
    err = mcpx_session_send(stage.session, draft, stage.now, &id, &fault);
    if (!err)
        note_id(name, id);
    mcpx_text_fini(&text);
    return err;
}

enum mcpx_err stage_sends(const char *name, const char *type, const char *to,
                          const char *payload)
{
    struct mcpx_slice addressees[8];
    struct mcpx_draft draft = {.type = type, .to = addressees};

    while (to && *to) {
        size_t len = strcspn(to, ",");

        addressees[draft.to_count++] = (struct mcpx_slice){to, len};
        to += len + (to[len] == ',');
    }
    return send_draft(name, &draft, payload);
}

enum mcpx_err stage_replies(const char *name, const char *type, const char *about,
                            const char *payload)
{
    struct mcpx_text id = {0};
    struct mcpx_draft draft = {.type = type};
    enum mcpx_err err;

    write_out(about, &id);
    draft.correlation_id = mcpx_text_view(&id);
    err = send_draft(name, &draft, payload);
    mcpx_text_fini(&id);
    return err;
}

enum mcpx_err stage_responds(const char *request, const char *payload)
{
    struct mcpx_text text = {0};
    struct mcpx_fault fault;
    enum mcpx_err err;

    write_out(payload, &text);
    err = mcpx_session_respond(stage.session, mcpx_slice_of(request), mcpx_text_view(&text),
                               stage.now, &fault);
    mcpx_text_fini(&text);
    return err;
}

/* Ids we know become @NAME again, so that a text can be compared. */
static void write_back(struct mcpx_slice text, struct mcpx_text *out)
{
    for (size_t at = 0; at < text.len; at++) {
        size_t i = 0;

        while (i < stage.count &&
               (text.len - at < 36 || memcmp(text.text + at, stage.ids[i], 36) != 0))
            i++;
        if (i == stage.count) {
            mcpx_text_add(out, text.text[at] == '"' ? "'" : text.text + at, 1);
            continue;
        }
        mcpx_text_puts(out, "@");
        mcpx_text_puts(out, stage.names[i]);
        at += 35;
    }
}

bool stage_writes(struct mcpx_text *text)
{
    struct mcpx_slice output;

    if (!mcpx_session_output(stage.session, &output))
        return false;
    mcpx_text_reset(text);
    mcpx_text_puts(text, "");
    write_back(output, text);
    mcpx_session_written(stage.session);
    return true;
}

void stage_expect_output(const char *part)
{
    mx_scoped_text text = {0};
    bool any = stage_writes(&text);

    cr_expect_eq(any, part != NULL);
    if (any && part)
        cr_expect_not_null(strstr(text.text, part), "%s, expected %s", text.text, part);
}

void stage_echoes(void)
{
    struct mcpx_slice output;

    while (mcpx_session_output(stage.session, &output)) {
        struct mcpx_text echo = {0};

        mcpx_text_puts(&echo, "{\"from\":\"me\",");
        mcpx_text_add(&echo, output.text + 1, output.len - 1);
        mcpx_session_written(stage.session);
        mcpx_session_receive(stage.session, mcpx_text_view(&echo), stage.now);
        mcpx_text_fini(&echo);
    }
}

void stage_flushes(void)
{
    struct mcpx_slice output;

    while (mcpx_session_output(stage.session, &output))
        mcpx_session_written(stage.session);
}

void stage_waits(int64_t ms)
{
    stage.now.mono_ms += ms;
    stage.now.wall_ms += ms;
    mcpx_session_tick(stage.session, stage.now);
}

void stage_breaks(int code)
{
    mcpx_session_disconnected(stage.session, code, MCPX_SLICE("gone"), stage.now);
}

/* ---- reading ---- */

static void put(struct mcpx_text *out, const char *before, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mcpx_text_puts(out, before);
    mcpx_text_slice(out, text);
}

static void put_own(const struct mcpx_event *event, const char *before, struct mcpx_text *out)
{
    if (!event->own.text)
        return;
    put(out, before, event->tag ? mcpx_slice_of(event->tag) : event->own);
    if (event->tag)
        cr_expect(
            mcpx_slice_equal(event->own, mcpx_slice_of(id_of(event->tag, strlen(event->tag)))),
            "%s has another id", (char *)event->tag);
}

static void put_details(const struct mcpx_event *event, struct mcpx_text *out)
{
    static const char *const presences[] = {"join", "leave", "update"};
    char code[16];

    if (event->type == MCPX_EVENT_VIOLATION)
        put(out, " ", mcpx_slice_of(mcpx_violation_name(event->violation)));
    if (event->type == MCPX_EVENT_PRESENCE)
        put(out, " ", mcpx_slice_of(presences[event->presence]));
    put(out, " ", event->participant);
    if (event->type == MCPX_EVENT_LEFT) {
        snprintf(code, sizeof code, " %d", event->code);
        mcpx_text_puts(out, code);
        put(out, " ", event->reason);
        mcpx_text_puts(out, event->retry_ms < 0 ? "; final" : "; again");
    }
    if (event->type == MCPX_EVENT_REFUSED) {
        put_own(event, " ", out);
        put(out, " ", mcpx_slice_of(mcpx_error_wire(event->err)));
        put(out, "; alternative ", event->alternative);
        return;
    }
    if (event->type != MCPX_EVENT_PRESENCE && event->envelope) {
        put(out, " ", event->envelope->id);
        put(out, " from ", event->envelope->from);
        put_own(event, "; own ", out);
    } else {
        put_own(event, " ", out);
    }
}

static void put_event(const struct mcpx_event *event, struct mcpx_text *out)
{
    mcpx_text_puts(out, mcpx_event_name(event->type));
    put_details(event, out);
    if (event->proposal.text && mcpx_slice_equal(event->proposal, event->own))
        mcpx_text_puts(out, "; proposal");
    else
        put(out, "; proposal ", event->proposal);
    put(out, " of ", event->proposer);
    if (event->resumed)
        mcpx_text_puts(out, "; resumed");
    if (event->renamed)
        mcpx_text_puts(out, "; renamed");
    if (event->same)
        mcpx_text_puts(out, "; same");
    mcpx_text_puts(out, "\n");
}

/* What was told since the last call; the text is never NULL. */
static struct mcpx_text told(void)
{
    struct mcpx_text lines = {0}, got = {0};
    struct mcpx_event event;

    mcpx_text_puts(&got, "");
    while (mcpx_session_event(stage.session, &event))
        put_event(&event, &lines);
    write_back(mcpx_text_view(&lines), &got);
    mcpx_text_fini(&lines);
    return got;
}

void stage_expect(const char *transcript)
{
    mx_scoped_text got = told();

    cr_expect_str_eq(got.text, transcript, "expected:\n%sgot:\n%s", transcript, got.text);
}

void stage_skip(void)
{
    struct mcpx_event event;

    while (mcpx_session_event(stage.session, &event))
        ;
}

/* An expectation would not fail a test that is over. */
void stage_clear(void)
{
    struct mcpx_text untold = {0};

    if (stage.session)
        untold = told();
    if (untold.len) {
        fprintf(stderr, "nobody expected:\n%s", untold.text);
        abort();
    }
    mcpx_text_fini(&untold);
    mcpx_session_free(stage.session);
    stage.session = NULL;
}
