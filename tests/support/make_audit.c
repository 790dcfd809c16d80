/*
 * make_audit.c - writes a folder as the router does, for tests of whoever reads one: a proposal,
 * its approval and response, a refusal, somebody who was turned away, a message that could not be
 * stored, and texts that spreadsheets take for formulas.
 *
 *     make_audit FOLDER KEY_FILE [ROTATE_BYTES]
 */
#include "router/store/audit/audit.h"
#include "router/store/commit/submission.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t wall_ms = 1790000000000;

/* What was said: from, to, kind, id, correlation_id, grant. */
static const char *const said[][6] = {
    {"agent", "fs", "mcp/proposal:tools/call:rm", "p-1", NULL, "mcp/proposal:*"},
    {"ann", "fs", "mcp/request:tools/call:rm", "r-1", "p-1", "mcp/*"},
    {"fs", "ann", "mcp/response:tools/call:rm", "s-1", "r-1", "mcp/*"},
    {"ann", NULL, "chat", "=cmd|' /C calc'!A0", NULL, "chat"},
    {"ann~2", NULL, "chat", "c-2", NULL, "chat"},
    {"guest", NULL, "chat", "c-3", NULL, "*"},
};

enum { SAID = sizeof said / sizeof *said };

static void say(struct audit *audit, struct submission *made)
{
    static struct mcpx_slice to[SAID];
    struct link list;

    list_init(&list);
    for (size_t i = 0; i < SAID; i++) {
        to[i] = mcpx_slice_of(said[i][1]);
        made[i] = (struct submission){.what = SUBMIT_MESSAGE,
                                      .ticket = i + 1,
                                      .topic = MCPX_SLICE("work"),
                                      .from = mcpx_slice_of(said[i][0]),
                                      .kind = mcpx_slice_of(said[i][2]),
                                      .kind_sent = mcpx_slice_of(said[i][2]),
                                      .id = mcpx_slice_of(said[i][3]),
                                      .correlation_id = mcpx_slice_of(said[i][4]),
                                      .grant = mcpx_slice_of(said[i][5]),
                                      .text = MCPX_SLICE("{}"),
                                      .to = &to[i],
                                      .to_count = said[i][1] != NULL,
                                      .wall_ms = wall_ms + (int64_t)i * 1000};
        list_append(&list, &made[i].link);
    }
    work_queue_put(audit_queue(audit), &list, SAID);
}

/* Waits until all is answered. */
static void settle(struct audit *audit)
{
    size_t count = 0;

    while (count < SAID) {
        struct stage_report report;
        struct link list;

        list_init(&list);
        work_queue_answers(audit_queue(audit), &list, &report);
        for (struct link *at = list.next; at != &list; at = at->next)
            count++;
        (void)poll(NULL, 0, 1);
    }
}

static void tell(struct audit *audit, uint64_t undelivered)
{
    struct audit_note refuse = {.what = AUDIT_REFUSE,
                                .wall_ms = wall_ms + 7000,
                                .topic = MCPX_SLICE("work"),
                                .from = MCPX_SLICE("agent"),
                                .kind_sent = MCPX_SLICE("mcp/request:tools/call:rm"),
                                .id = MCPX_SLICE("r-2"),
                                .error = MCPX_SLICE("capability_violation"),
                                .reason = MCPX_SLICE("no_matching_grant"),
                                .bytes = 99};
    struct audit_note away = {.what = AUDIT_TURNED_AWAY,
                              .wall_ms = wall_ms + 8000,
                              .topic = MCPX_SLICE("work"),
                              .address = MCPX_SLICE("192.0.2.1"),
                              .error = MCPX_SLICE("unauthorized")};
    struct audit_note gone = {
        .what = AUDIT_UNDELIVERED, .wall_ms = wall_ms + 9000, .of = undelivered};

    audit_tell(audit, &refuse);
    audit_tell(audit, &away);
    audit_tell(audit, &gone);
}

static void ignore(void *context)
{
    (void)context;
}

int main(int argc, char **argv)
{
    static struct submission made[SAID];
    struct audit_config config = {.folder = argc > 2 ? argv[1] : "",
                                  .key_file = argc > 2 ? argv[2] : "",
                                  .rev = MCPX_SLICE("0011223344556677"),
                                  .rotate_bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0};
    struct mcpx_text errors = {0};
    struct audit *audit;

    if (audit_new(&config, ignore, NULL, &errors, &audit) != MCPX_OK) {
        fprintf(stderr, "%s", errors.text ? errors.text : "out of memory\n");
        mcpx_text_fini(&errors);
        return 1;
    }
    say(audit, made);
    settle(audit);
    tell(audit, made[2].line);
    audit_free(audit);
    return 0;
}
