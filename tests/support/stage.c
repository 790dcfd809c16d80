/*
 * stage.c - turns a session by hand and writes its events down.
 *
 *     joined; resumed; renamed            left 1006 gone; again | left 4001 x; final
 *     presence leave bob                  grants
 *     request r1 from bob; proposal p1    violation other_sender r1 from eve
 *     response r2 from bob; own q         refused q capability_violation; alternative
 *                                         mcp/proposal:x
 *     expired q                           fulfilling r3 from bob; own p; same
 *
 * An event is its name, the id and sender of its envelope, and what else is filled.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static void fill(void *context, void *bytes, size_t len)
{
    struct stage *stage = context;

    for (size_t i = 0; i < len; i++) {
        stage->random = stage->random * 6364136223846793005u + 1442695040888963407u;
        ((unsigned char *)bytes)[i] = (unsigned char)(stage->random >> 56);
    }
}

struct mcpx_session_config stage_config(struct stage *stage)
{
    return (struct mcpx_session_config){.observe = true, .fill = fill, .context = stage};
}

void stage_set(struct stage *stage, const struct mcpx_session_config *config)
{
    struct mcpx_session_config standard = stage_config(stage);

    memset(stage, 0, sizeof *stage);
    stage->random = 1;
    stage->now = (struct mcpx_now){1000, 1767225600000};
    cr_assert_eq(mcpx_session_new(config ? config : &standard, &stage->session), MCPX_OK);
}

void stage_clear(struct stage *stage)
{
    stage_expect(stage, "");
    mcpx_session_free(stage->session);
}

void stage_joins(struct stage *stage)
{
    mcpx_session_connected(stage->session, stage->now);
    cr_assert_eq(stage_hears(stage, STAGE_WELCOME), MCPX_OK);
    stage_expect(stage, "joined w from system:gateway\n");
}

/* ---- texts ---- */

static const char *id_of(const struct stage *stage, const char *name, size_t len)
{
    for (size_t i = stage->count; i > 0; i--)
        if (strlen(stage->names[i - 1]) == len && memcmp(stage->names[i - 1], name, len) == 0)
            return stage->ids[i - 1];
    cr_assert_fail("nothing was sent as %.*s", (int)len, name);
    return NULL;
}

/* ' to ", @NAME to the id. */
static void write_out(const struct stage *stage, const char *text, struct mcpx_text *out)
{
    for (; *text; text++) {
        if (*text == '@') {
            size_t len = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789");

            mcpx_text_puts(out, id_of(stage, text + 1, len));
            text += len;
        } else {
            mcpx_text_add(out, *text == '\'' ? "\"" : text, 1);
        }
    }
}

void stage_compose(struct stage *stage, const char *text, struct mcpx_text *out)
{
    if (text[0] == '{' && strncmp(text, "{'protocol'", 11) != 0) {
        mcpx_text_puts(out, "{\"protocol\":\"mcpx/v0.1\",");
        text++;
    }
    write_out(stage, text, out);
    if (out->len > 0 && out->text[0] == '{' && !strstr(out->text, "\"payload\"")) {
        out->len--;
        mcpx_text_puts(out, ",\"payload\":{}}");
    }
}

enum mcpx_err stage_hears(struct stage *stage, const char *text)
{
    struct mcpx_text whole = {0};
    enum mcpx_err err;
    char *copy;

    stage_compose(stage, text, &whole);
    copy = malloc(whole.len + 1); /* so that a sanitizer sees a read past the end */
    cr_assert_not_null(copy);
    if (whole.len)
        memcpy(copy, whole.text, whole.len);
    err =
        mcpx_session_receive(stage->session, (struct mcpx_slice){copy, whole.len}, stage->now);
    free(copy);
    mcpx_text_fini(&whole);
    return err;
}

/* ---- sending ---- */

static void note_id(struct stage *stage, const char *name, struct mcpx_slice id)
{
    cr_assert_lt(stage->count, (size_t)STAGE_NAMES_MAX);
    stage->names[stage->count] = name;
    snprintf(stage->ids[stage->count++], sizeof stage->ids[0], "%.*s", (int)id.len, id.text);
}

void stage_names(struct stage *stage, const char *name, const char *id)
{
    note_id(stage, name, mcpx_slice_of(id));
}

static enum mcpx_err send_draft(struct stage *stage, const char *name,
                                struct mcpx_draft *draft, const char *payload)
{
    struct mcpx_text text = {0};
    struct mcpx_slice id;
    struct mcpx_fault fault;
    enum mcpx_err err;

    write_out(stage, payload, &text);
    draft->payload = mcpx_text_view(&text);
    draft->tag = (char *)name;
    err = mcpx_session_send(stage->session, draft, stage->now, &id, &fault);
    if (!err)
        note_id(stage, name, id);
    mcpx_text_fini(&text);
    return err;
}

enum mcpx_err stage_sends(struct stage *stage, const char *name, const char *type,
                          const char *to, const char *payload)
{
    struct mcpx_slice addressees[8];
    struct mcpx_draft draft = {.type = type, .to = addressees};

    while (to && *to) {
        size_t len = strcspn(to, ",");

        addressees[draft.to_count++] = (struct mcpx_slice){to, len};
        to += len + (to[len] == ',');
    }
    return send_draft(stage, name, &draft, payload);
}

enum mcpx_err stage_replies(struct stage *stage, const char *name, const char *type,
                            const char *about, const char *payload)
{
    struct mcpx_text id = {0};
    struct mcpx_draft draft = {.type = type};
    enum mcpx_err err;

    write_out(stage, about, &id);
    draft.correlation_id = mcpx_text_view(&id);
    err = send_draft(stage, name, &draft, payload);
    mcpx_text_fini(&id);
    return err;
}

enum mcpx_err stage_responds(struct stage *stage, const char *request, const char *payload)
{
    struct mcpx_text text = {0};
    struct mcpx_fault fault;
    enum mcpx_err err;

    write_out(stage, payload, &text);
    err = mcpx_session_respond(stage->session, mcpx_slice_of(request), mcpx_text_view(&text),
                               stage->now, &fault);
    mcpx_text_fini(&text);
    return err;
}

/* Ids we know become @NAME again, so that a text can be compared. */
static void write_back(const struct stage *stage, struct mcpx_slice text,
                       struct mcpx_text *out)
{
    for (size_t at = 0; at < text.len; at++) {
        size_t i = 0;

        while (i < stage->count &&
               (text.len - at < 36 || memcmp(text.text + at, stage->ids[i], 36) != 0))
            i++;
        if (i == stage->count) {
            mcpx_text_add(out, text.text[at] == '"' ? "'" : text.text + at, 1);
            continue;
        }
        mcpx_text_puts(out, "@");
        mcpx_text_puts(out, stage->names[i]);
        at += 35;
    }
}

bool stage_writes(struct stage *stage, struct mcpx_text *text)
{
    struct mcpx_slice output;

    if (!mcpx_session_output(stage->session, &output))
        return false;
    mcpx_text_reset(text);
    mcpx_text_puts(text, "");
    write_back(stage, output, text);
    mcpx_session_written(stage->session);
    return true;
}

void stage_expect_output(struct stage *stage, const char *part)
{
    struct mcpx_text text = {0};
    bool any = stage_writes(stage, &text);

    cr_expect_eq(any, part != NULL);
    if (any && part)
        cr_expect_not_null(strstr(text.text, part), "%s, expected %s", text.text, part);
    mcpx_text_fini(&text);
}

void stage_echoes(struct stage *stage)
{
    struct mcpx_slice output;

    while (mcpx_session_output(stage->session, &output)) {
        struct mcpx_text echo = {0};

        mcpx_text_puts(&echo, "{\"from\":\"me\",");
        mcpx_text_add(&echo, output.text + 1, output.len - 1);
        mcpx_session_written(stage->session);
        mcpx_session_receive(stage->session, mcpx_text_view(&echo), stage->now);
        mcpx_text_fini(&echo);
    }
}

void stage_flushes(struct stage *stage)
{
    struct mcpx_slice output;

    while (mcpx_session_output(stage->session, &output))
        mcpx_session_written(stage->session);
}

void stage_waits(struct stage *stage, int64_t ms)
{
    stage->now.mono_ms += ms;
    stage->now.wall_ms += ms;
    mcpx_session_tick(stage->session, stage->now);
}

void stage_breaks(struct stage *stage, int code)
{
    mcpx_session_disconnected(stage->session, code, MCPX_SLICE("gone"), stage->now);
}

/* ---- reading ---- */

static void put(struct mcpx_text *out, const char *before, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mcpx_text_puts(out, before);
    mcpx_text_slice(out, text);
}

static void put_own(const struct stage *stage, const struct mcpx_event *event,
                    const char *before, struct mcpx_text *out)
{
    if (!event->own.text)
        return;
    put(out, before, event->tag ? mcpx_slice_of(event->tag) : event->own);
    if (event->tag)
        cr_expect(mcpx_slice_equal(
                      event->own, mcpx_slice_of(id_of(stage, event->tag, strlen(event->tag)))),
                  "%s has another id", (char *)event->tag);
}

static void put_details(const struct stage *stage, const struct mcpx_event *event,
                        struct mcpx_text *out)
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
        put_own(stage, event, " ", out);
        put(out, " ", mcpx_slice_of(mcpx_error_wire(event->err)));
        put(out, "; alternative ", event->alternative);
        return;
    }
    if (event->type != MCPX_EVENT_PRESENCE && event->envelope) {
        put(out, " ", event->envelope->id);
        put(out, " from ", event->envelope->from);
        put_own(stage, event, "; own ", out);
    } else {
        put_own(stage, event, " ", out);
    }
}

static void put_event(const struct stage *stage, const struct mcpx_event *event,
                      struct mcpx_text *out)
{
    mcpx_text_puts(out, mcpx_event_name(event->type));
    put_details(stage, event, out);
    if (event->proposal.text && mcpx_slice_equal(event->proposal, event->own))
        mcpx_text_puts(out, "; proposal");
    else
        put(out, "; proposal ", event->proposal);
    if (event->resumed)
        mcpx_text_puts(out, "; resumed");
    if (event->renamed)
        mcpx_text_puts(out, "; renamed");
    if (event->same)
        mcpx_text_puts(out, "; same");
    mcpx_text_puts(out, "\n");
}

void stage_expect(struct stage *stage, const char *transcript)
{
    struct mcpx_text lines = {0}, got = {0};
    struct mcpx_event event;

    mcpx_text_puts(&got, "");
    while (mcpx_session_event(stage->session, &event))
        put_event(stage, &event, &lines);
    write_back(stage, mcpx_text_view(&lines), &got);
    mcpx_text_fini(&lines);
    cr_expect_str_eq(got.text, transcript, "expected:\n%sgot:\n%s", transcript, got.text);
    mcpx_text_fini(&got);
}

void stage_skip(struct stage *stage)
{
    struct mcpx_event event;

    while (mcpx_session_event(stage->session, &event))
        ;
}
