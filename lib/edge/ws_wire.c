/*
 * ws_wire.c - the life of a connection: its addresses are tried one after the other, it is open,
 * it is over.
 */
#include "lib/edge/ws_wire_state.h"

#include "lib/core/format.h"
#include "lib/edge/ws_certificate.h"

#include <netdb.h>
#include <stdlib.h>

static const lws_retry_bo_t no_timers; /* those of libwebsockets: we count ourselves */

static void try_next(void *user);

enum mcpx_err mx_wire_new(const struct mx_wire_config *config, struct mx_wire **out)
{
    struct mx_wire *wire = calloc(1, sizeof *wire);
    bool whole;

    if (!wire)
        return MCPX_ENOMEM;
    wire->loop = config->loop;
    wire->message_max = MX_MESSAGE_MAX;
    wire->events = config->events;
    wire->user = config->user;
    wire->address = *config->address;
    mx_url_add_host(&wire->host, config->address);
    if (config->token)
        mx_format(&wire->token, "Bearer %s", config->token);
    mx_format(&wire->ca_file, "%s", config->ca_file);
    mx_format(&wire->cert_file, "%s", config->cert_file);
    mx_format(&wire->key_file, "%s", config->key_file ? config->key_file : config->cert_file);
    whole = !wire->host.failed && !wire->token.failed && !wire->ca_file.failed &&
            !wire->cert_file.failed && !wire->key_file.failed;
    wire->again = whole ? mx_alarm_new(wire->loop, try_next, wire) : NULL;
    if (wire->again && mx_wire_context_open(wire)) {
        *out = wire;
        return MCPX_OK;
    }
    mx_alarm_free(wire->again);
    mx_wire_context_close(wire);
    return whole ? MCPX_ESYSTEM : MCPX_ENOMEM;
}

bool mx_wire_renew(struct mx_wire *wire, const char *token)
{
    struct mcpx_text fresh = {0};

    mx_format(&fresh, "Bearer %s", token);
    if (fresh.failed) {
        mcpx_text_fini(&fresh);
        return false;
    }
    mcpx_text_fini(&wire->token);
    wire->token = fresh;
    return true;
}

bool mx_wire_shows_other(const struct mx_wire *wire, struct mcpx_text *told)
{
    const char *field, *reason = mx_certificate_renewal_fault(wire->tls, wire->cert_file.text,
                                                              wire->key_file.text, &field);
    bool is_key = strcmp(field, "key_file") == 0;

    mx_format(told, "%s: %s", is_key ? &wire->key_file : &wire->cert_file,
              reason ? reason : "it has another certificate now");
    return !reason;
}

static void attempt(struct mx_wire *wire, const char *address)
{
    struct lws_client_connect_info info = {0};

    wire->status = wire->code = 0;
    wire->distrusted = false;
    mx_wire_reason(wire, mcpx_slice_of("it cannot be reached"));
    mcpx_text_reset(&wire->body);
    if (wire->cert_file.len && wire->tls)
        (void)mx_certificate_use(wire->tls, wire->cert_file.text, wire->key_file.text);
    info.context = wire->lws;
    info.address = address;
    info.port = wire->address.port;
    info.path = wire->target.text;
    info.host = wire->host.text;
    /* A redirection would take the token somewhere else. */
    info.ssl_connection =
        LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (wire->address.tls ? LCCSCF_USE_SSL : 0);
    info.local_protocol_name = "mcpx";
    info.opaque_user_data = wire;
    info.retry_and_idle_policy = &no_timers;
    wire->wsi = lws_client_connect_via_info(&info);
    if (!wire->wsi)
        mx_wire_over(wire);
}

static void try_next(void *user)
{
    struct mx_wire *wire = user;
    const struct addrinfo *at = wire->next;
    char address[NI_MAXHOST];

    if (!at)
        return;
    wire->next = at->ai_next;
    if (getnameinfo(at->ai_addr, at->ai_addrlen, address, sizeof address, NULL, 0,
                    NI_NUMERICHOST))
        mx_wire_over(wire);
    else
        attempt(wire, address);
}

static void on_found(void *user, struct addrinfo *found, const char *why)
{
    struct mx_wire *wire = user;

    wire->lookup = NULL;
    wire->found = wire->next = found;
    wire->status = wire->code = 0;
    if (found) {
        try_next(wire);
        return;
    }
    mx_wire_reason(wire, mcpx_slice_of(why));
    mx_wire_over(wire);
}

static bool is_numeric(const struct mx_address *address)
{
    unsigned char bytes[16];

    return address->v6 || uv_inet_pton(AF_INET, address->host, bytes) == 0;
}

void mx_wire_connect(struct mx_wire *wire, struct mcpx_slice target)
{
    mcpx_text_reset(&wire->target);
    mcpx_text_slice(&wire->target, target);
    if (wire->target.failed) {
        on_found(wire, NULL, "out of memory");
        return;
    }
    if (is_numeric(&wire->address)) {
        attempt(wire, wire->address.host);
        return;
    }
    wire->lookup = mx_lookup_start(wire->loop, wire->address.host, on_found, wire);
    if (!wire->lookup)
        on_found(wire, NULL, "the resolver cannot be asked");
}

void mx_wire_drop(struct mx_wire *wire)
{
    struct lws *wsi = wire->wsi;

    mx_lookup_drop(wire->lookup);
    wire->lookup = NULL;
    mx_alarm_stop(wire->again);
    mx_wire_forget_addresses(wire);
    mx_wire_detach(wire);
    if (!wsi)
        return;
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    lws_cancel_service(wire->lws); /* its timers are looked at after events only */
}

void mx_wire_free(struct mx_wire *wire)
{
    if (!wire)
        return;
    mx_lookup_drop(wire->lookup);
    mx_alarm_free(wire->again);
    mx_wire_forget_addresses(wire);
    mx_wire_detach(wire);
    mx_wire_context_close(wire);
}
