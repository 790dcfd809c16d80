/*
 * certificate.c - a name in a certificate means what the administrator has written beside it, and
 * nothing by itself: authorities sign names for many purposes. A certificate with names of two
 * participants stands for nobody, because which of them was meant would be a guess. One that was
 * revoked stands for nobody either, however it came in.
 */
#include "router/edge/certificate.h"

#include "router/edge/tls.h"

#include <stdlib.h>

static int compare(const void *key, const void *row)
{
    return strcmp(key, ((const struct tls_name *)row)->name);
}

static const char *find(const struct tls_settings *settings, const char *name)
{
    const struct tls_name *row = settings->names;

    if (settings->name_count > 0)
        row = bsearch(name, settings->names, settings->name_count, sizeof *row, compare);
    return row ? row->participant : NULL;
}

/*
 * The participant that all known names of the list mean; NULL when there is none. The names end
 * with a NUL each.
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

    if (!tls_names(connection->tls, &out->shown))
        return !out->shown.failed;
    if (!revocation_has(&edge->tls.files.revoked, tls_chain(connection->tls),
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
