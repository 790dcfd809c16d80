/*
 * party.c - each client runs its own loop, only while it is waited for; so a test says in which
 * order things happen.
 */
#define _GNU_SOURCE /* memmem */
#include "tests/support/party.h"
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <stdio.h>

const char *party_url(int port)
{
    static char url[64];

    snprintf(url, sizeof url, "ws://127.0.0.1:%d", port);
    return url;
}

struct mcpx_client_config party_config(const struct daemon *daemon, const char *participant,
                                       const char *topic)
{
    return (struct mcpx_client_config){.url = party_url(daemon->port[0]),
                                       .topic = topic,
                                       .token =
                                           rude_token(daemon, participant, topic, "[\"*\"]"),
                                       .history = -1};
}

struct mcpx_client *party_open(const struct mcpx_client_config *config)
{
    struct mcpx_client *client = NULL;
    struct mcpx_fault fault = {0};
    enum mcpx_err err = mcpx_client_new(config, &fault, &client);

    cr_assert_eq(err, MCPX_OK, "%s: %s (%s)", mcpx_strerror(err), fault.reason, fault.field);
    return client;
}

struct mcpx_client *party_join(const struct daemon *daemon, const char *participant,
                               const char *topic)
{
    struct mcpx_client_config config = party_config(daemon, participant, topic);
    struct mcpx_client *client = party_open(&config);
    struct mcpx_event event;

    party_expect(client, MCPX_EVENT_JOINED, &event);
    return client;
}

void party_expect(struct mcpx_client *client, enum mcpx_event_type type,
                  struct mcpx_event *event)
{
    enum mcpx_err err;

    do {
        err = mcpx_client_wait(client, DAEMON_PATIENCE_MS, event);
        cr_assert_eq(err, MCPX_OK, "no %s: %s", mcpx_event_name(type), mcpx_strerror(err));
        cr_assert(event->type != MCPX_EVENT_VIOLATION || type == MCPX_EVENT_VIOLATION,
                  "%s: %s", mcpx_violation_text(event->violation),
                  event->fault.reason ? event->fault.reason : "");
    } while (event->type != type);
}

static void send_draft(struct mcpx_client *client, const struct mcpx_draft *draft)
{
    struct mcpx_fault fault = {0};
    enum mcpx_err err = mcpx_client_send(client, draft, NULL, &fault);

    cr_assert_eq(err, MCPX_OK, "%s: %s", mcpx_strerror(err), fault.reason ? fault.reason : "");
}

void party_chat(struct mcpx_client *client, const char *payload)
{
    send_draft(client,
               &(struct mcpx_draft){.type = "chat", .payload = mcpx_slice_of(payload)});
}

void party_send(struct mcpx_client *client, const char *type, const char *to,
                const char *payload)
{
    struct mcpx_slice addressee = mcpx_slice_of(to);

    send_draft(client, &(struct mcpx_draft){.type = type,
                                            .to = &addressee,
                                            .to_count = 1,
                                            .payload = mcpx_slice_of(payload)});
}

void party_leave(struct mcpx_client *client)
{
    struct mcpx_event event = {0};

    mcpx_client_close(client, DAEMON_PATIENCE_MS);
    do {
        party_expect(client, MCPX_EVENT_LEFT, &event);
    } while (event.retry_ms >= 0);
    cr_expect_eq(event.code, 1000, "%d: %.*s", event.code, (int)event.reason.len,
                 event.reason.text);
    mcpx_client_free(client);
}

bool party_holds(struct mcpx_slice text, const char *part)
{
    return text.text && memmem(text.text, text.len, part, strlen(part)) != NULL;
}
