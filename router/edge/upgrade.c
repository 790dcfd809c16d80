/*
 * upgrade.c - everything a handshake can get wrong is refused here, over HTTP and with a reason,
 * before libwebsockets looks at it: it would upgrade POST and any version, switch to HTTP/2 when
 * asked for h2c, and answer an unknown subprotocol with silence. Admission is asked for before
 * the 101, because only then can a refusal have a status; it is asked again after, because
 * between the two the topic may have filled up.
 * Includes upgrade.h, request.h, answer.h, libwebsockets.
 */
#include "router/edge/upgrade.h"
#include "router/edge/answer.h"
#include "router/edge/request.h"

#include <libwebsockets.h>

/* libwebsockets copies the lists it looks through into buffers of this size, and gives up
 * without a word where they are too small. */
enum { LIST_MAX = 126, KEY_LEN = 24 };

static const struct answer_status bad_version = {
    426, "Upgrade Required", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
    "Sec-WebSocket-Version has to be 13"};
static const struct answer_status bad_method = {405, "Method Not Allowed", "Allow: GET\r\n",
                                                "a WebSocket is opened with GET"};
static const struct answer_status bad_upgrade = {
    400, "Bad Request", "", "Upgrade has to be websocket and Connection to hold upgrade"};
static const struct answer_status bad_key = {400, "Bad Request", "",
                                             "Sec-WebSocket-Key has to be 16 bytes in base64"};
static const struct answer_status bad_host = {400, "Bad Request", "", "Host is missing"};
static const struct answer_status bad_subprotocol = {
    400, "Bad Request", "",
    "Sec-WebSocket-Protocol has to be absent or to offer mcpx within its first 63 bytes"};

static int length(struct lws *wsi, int token)
{
    return lws_hdr_total_length(wsi, (enum lws_token_indexes)token);
}

/* Only names before and including "mcpx" are looked at, and only up to 63 bytes of each. */
static bool subprotocol_fits(struct lws *wsi)
{
    struct mcpx_text offered = {0};
    bool fits = true;

    if (request_header(wsi, WSI_TOKEN_PROTOCOL, &offered)) {
        const char *found = strstr(offered.text, "mcpx");

        fits = offered.len <= LIST_MAX && found && found - offered.text < 60 &&
               request_header_lists(wsi, WSI_TOKEN_PROTOCOL, "mcpx");
    }
    mcpx_text_fini(&offered);
    return fits;
}

/* What is wrong with the handshake, or NULL. */
static const struct answer_status *judge(struct lws *wsi)
{
    if (!request_header_is(wsi, WSI_TOKEN_UPGRADE, "websocket") ||
        length(wsi, WSI_TOKEN_CONNECTION) > LIST_MAX ||
        !request_header_lists(wsi, WSI_TOKEN_CONNECTION, "upgrade"))
        return &bad_upgrade;
    if (length(wsi, WSI_TOKEN_GET_URI) <= 0)
        return &bad_method;
    if (!request_header_is(wsi, WSI_TOKEN_VERSION, "13"))
        return &bad_version;
    if (length(wsi, WSI_TOKEN_KEY) != KEY_LEN)
        return &bad_key;
    if (length(wsi, WSI_TOKEN_HOST) <= 0)
        return &bad_host;
    return subprotocol_fits(wsi) ? NULL : &bad_subprotocol;
}

static int refuse(struct connection *connection, enum mcpx_err err, const char *detail)
{
    struct edge *edge = connection->edge;
    char remote[REMOTE_SIZE];

    if (log_permits(&edge->refuse_log, edge_now(edge).mono_ms))
        LOG(LOG_INFO, "refused", log_string("code", mcpx_error_wire(err)),
            log_string("detail", detail ? detail : mcpx_strerror(err)),
            log_string("remote", connection_remote(connection, remote)));
    return answer_problem(connection->wsi, err, detail);
}

static int admit(struct connection *connection, const struct request *request)
{
    struct edge *edge = connection->edge;
    const char *detail = NULL;
    enum mcpx_err err;

    err = http_admission(&edge->api, &request->http, edge_now(edge), &connection->admission,
                         &connection->scratch, &connection->grant, &detail);
    return err ? refuse(connection, err, detail) : 0;
}

int upgrade_confirm(struct connection *connection)
{
    struct lws *wsi = connection->wsi;
    const struct answer_status *why;
    struct request request = {0};
    int result;

    /* With an upgrade it does not know libwebsockets has answered already and may have dropped
     * the headers (CVE-2025-11677). */
    if (length(wsi, WSI_TOKEN_UPGRADE) <= 0)
        return -1;
    why = judge(wsi);
    if (why)
        return answer_refuse(wsi, why);
    if (request_read(wsi, &request)) {
        request.http.from = connection->from;
        result = admit(connection, &request);
    } else {
        result = answer_problem(wsi, MCPX_ENOMEM, NULL);
    }
    request_fini(&request);
    return result;
}

/* Too late for HTTP: a close frame of our own, with 1011 where the error has no code because it
 * is otherwise answered before the upgrade. Protocol: section 6. */
static void turn_away(struct connection *connection, enum mcpx_err err)
{
    const char *reason = mcpx_strerror(err);
    int own = mcpx_error_close(err), code = own ? own : 1011;
    size_t len = strlen(reason);
    unsigned char frame[4 + 123] = {0x88, (unsigned char)(2 + len), (unsigned char)(code >> 8),
                                    (unsigned char)(code & 255)};

    memcpy(frame + 4, reason, len); /* every text of the table is far shorter than 123 */
    lws_write(connection->wsi, frame, 4 + len, LWS_WRITE_RAW);
    connection_leave(connection, LEAVE_MS);
}

int upgrade_established(struct connection *connection)
{
    struct edge *edge = connection->edge;
    struct peer *peer = NULL;
    enum mcpx_err err = MCPX_ESYSTEM;
    char remote[REMOTE_SIZE];

    if (connection->grant)
        err = hub_admit(edge->hub, connection->grant, &connection->admission, connection,
                        edge_now(edge), &peer);
    if (err) {
        turn_away(connection, err);
    } else {
        LOG(LOG_INFO, "admitted", log_text("participant", peer_id(peer)),
            connection_identity(peer), log_text("topic", connection->admission.topic),
            log_string("remote", connection_remote(connection, remote)));
        connection_welcome(connection, peer);
    }
    grant_unref(connection->grant);
    connection->grant = NULL;
    mcpx_text_fini(&connection->scratch);
    return 0;
}
