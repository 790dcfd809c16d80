/*
 * join.c - joins a topic, says hello, prints what it hears, answers one request and leaves.
 * cc join.c $(pkg-config --cflags --libs mcpx); MCPX_URL=... MCPX_TOPIC=... MCPX_TOKEN=... ./a.out
 */
#include <mcpx/mcpx.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    struct mcpx_client_config config = {.url = getenv("MCPX_URL"),
                                        .topic = getenv("MCPX_TOPIC"),
                                        .token = getenv("MCPX_TOKEN")};
    struct mcpx_draft hello = {.type = "chat", .payload = MCPX_SLICE("{\"text\":\"hello\"}")};
    struct mcpx_fault fault = {0};
    struct mcpx_client *client;
    struct mcpx_event event;
    struct mcpx_text answer = {0};

    if (mcpx_client_new(&config, &fault, &client) != MCPX_OK) {
        fprintf(stderr, "%s: %s\n", fault.field, fault.reason);
        return 2;
    }
    mcpx_client_send(client, &hello, NULL, NULL);
    while (mcpx_client_wait(client, -1, &event) == MCPX_OK) {
        if (event.envelope)
            printf("%s %.*s\n", mcpx_event_name(event.type), (int)event.envelope->text.len,
                   event.envelope->text.text);
        if (event.type == MCPX_EVENT_LEFT)
            fprintf(stderr, "left: %.*s\n", (int)event.reason.len, event.reason.text);
        if (event.envelope && event.type == MCPX_EVENT_REQUEST) {
            mcpx_text_reset(&answer);
            mcpx_text_puts(&answer, "{\"jsonrpc\":\"2.0\",\"id\":");
            mcpx_text_slice(&answer, event.rpc->id);
            mcpx_text_puts(&answer, ",\"result\":{}}");
            mcpx_client_respond(client, event.envelope->id, mcpx_text_view(&answer), NULL);
            mcpx_client_close(client, 5000);
        }
    }
    mcpx_text_fini(&answer);
    mcpx_client_free(client);
    return 0;
}
