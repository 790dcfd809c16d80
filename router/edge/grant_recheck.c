/*
 * grant_recheck.c - finds the participant of a certificate, and checks connections again after a
 * reload, some in each loop iteration. A connection that sends before is checked at once, so a
 * change takes effect for the very next message. Checked connections move to the end of the list of
 * all, like new ones; so the first one tells whether any are left.
 */
#include "router/edge/edge_parts.h"

#include "lib/base/rows.h"
#include "lib/base/scoped.h"
#include "lib/wire/tls.h"

/*
 * ---- certificates. A name counts only when the operator has given it a participant
 * (tls.client_names), because CAs sign names for many purposes. A certificate with names of two
 * participants, or a revoked one, stands for none.
 */

static const char *find(const struct tls_settings *settings, const char *name)
{
    const struct tls_name *names = settings->names;
    size_t low = 0, high = settings->name_count, row;

    MX_SEARCH(low, high, row, strcmp(names[row].name, name) < 0);
    return low < settings->name_count && strcmp(names[low].name, name) == 0
               ? names[low].participant
               : NULL;
}

/*
 * Returns the participant of all known names in the list; NULL when there is none, or more than
 * one. Each name ends with a NUL.
 */
static const char *participant_of(const struct tls_settings *settings,
                                  const struct mcpx_text *names)
{
    const char *found = NULL;

    for (size_t at = 0; at < names->len; at += strlen(names->text + at) + 1) {
        const char *participant = find(settings, names->text + at);

        if (participant && found && strcmp(found, participant) != 0)
            return NULL;
        if (participant)
            found = participant;
    }
    return found;
}

bool certificate_read(const struct connection *connection, struct certificate *out)
{
    struct edge *edge = connection->edge;
    const char *participant = NULL;
    size_t len;

    if (!mx_tls_names(connection->tls, &out->shown))
        return !out->shown.failed;
    if (!revocation_has(&edge->tls.files.revoked, mx_tls_chain(connection->tls),
                        edge_now(edge).wall_ms / 1000))
        participant = participant_of(&edge->config->tls, &out->shown);
    for (size_t i = 0; i < out->shown.len; i++)
        if (out->shown.text[i] == '\0')
            out->shown.text[i] = ' ';
    len = out->shown.len;
    mcpx_text_puts(&out->shown, participant ? participant : "");
    if (out->shown.failed)
        return false;
    out->named = (struct mcpx_slice){out->shown.text + len, out->shown.len - len};
    out->shown.len = len;
    return true;
}

void certificate_fini(struct certificate *certificate)
{
    mcpx_text_fini(&certificate->shown);
    *certificate = (struct certificate){0};
}

/* ---- checked again ---- */

/* Per loop iteration. Telling a topic of new grants costs much more than finding them equal. */
enum { LOOKS_PER_TURN = 256, CHANGES_PER_TURN = 64 };

/* Returns the error for a participant whose grant is no longer valid. */
static enum mcpx_err reason_of(enum mcpx_err err)
{
    if (err == MCPX_ENOTFOUND || err == MCPX_EFORBIDDEN)
        return MCPX_EKICKED;
    if (err == MCPX_ETOKEN)
        return MCPX_EEXPIRED;
    return mcpx_error_close(err) ? err : MCPX_ENOMEM;
}

/* A connection with a certificate stays while the certificate stands for its participant. */
static enum mcpx_err judge_certificate(const struct connection *connection,
                                       const struct grant *grant)
{
    MX_SCOPED(certificate_fini) struct certificate certificate = {.named = {NULL, 0}};

    if (!connection->tls)
        return MCPX_OK;
    if (!certificate_read(connection, &certificate))
        return MCPX_ENOMEM;
    return certificate.named.text && !mcpx_slice_equal(certificate.named, grant->identity)
               ? MCPX_ETOKEN
               : MCPX_OK;
}

enum mcpx_err recheck_grant(struct connection *connection, struct mcpx_slice topic,
                            struct grant **grant)
{
    struct edge *edge = connection->edge;
    struct grant *judged = NULL;
    enum mcpx_err err = tokens_recheck(edge->config->tokens, grant_base(*grant), topic,
                                       edge_now(edge), &judged);

    if (!err)
        err = judge_certificate(connection, *grant);
    if (!err)
        err = changes_admit(edge->api.changes, topic, edge_now(edge).wall_ms, &judged);
    if (err) {
        grant_unref(judged);
        return reason_of(err);
    }
    grant_unref(*grant);
    *grant = judged;
    return MCPX_OK;
}

/* True when the participant was told something. `remind`: tell it the limits in any case. */
static bool recheck_member(struct connection *connection, bool remind)
{
    struct edge *edge = connection->edge;
    struct peer *peer = connection->peer;
    struct grant *grant = grant_ref((struct grant *)peer_grant(peer));
    enum mcpx_err err = recheck_grant(connection, peer_topic_name(peer), &grant);
    bool equal = !err && grant_equals(grant, peer_grant(peer));

    connection->frames.max = bounds_message(edge->config);
    if (!err)
        err = hub_update_grants(edge->hub, peer, grant, true, edge_now(edge));
    if (!err && equal && remind)
        hub_remind(edge->hub, peer, edge_now(edge));
    if (err)
        hub_disconnect(edge->hub, peer, err, edge_now(edge));
    grant_unref(grant);
    return !equal || remind;
}

bool recheck_connection(struct connection *connection)
{
    bool remind = connection->generation < connection->edge->remind_before;

    if (connection->generation == connection->edge->generation)
        return false;
    connection->generation = connection->edge->generation;
    list_remove(&connection->in_all);
    list_append(&connection->edge->all, &connection->in_all);
    return connection->state == MEMBER && connection->peer &&
           !peer_is_disconnected(connection->peer) && recheck_member(connection, remind);
}

static struct connection *first_due(struct edge *edge)
{
    struct connection *first = LIST_FIRST(&edge->all, struct connection, in_all);

    return first && first->generation != edge->generation ? first : NULL;
}

bool grant_recheck_turn(struct edge *edge)
{
    struct connection *connection;
    int looks = LOOKS_PER_TURN, changes = CHANGES_PER_TURN;

    while (looks-- > 0 && changes > 0 && (connection = first_due(edge)) != NULL)
        changes -= recheck_connection(connection);
    return first_due(edge) != NULL;
}
