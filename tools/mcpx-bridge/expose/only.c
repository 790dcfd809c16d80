/*
 * only.c - what --only lets through. One pattern means a participant or a name, whichever it
 * fits, because a person reads both in a client's list; two options were refused. Whether a
 * participant has such a name is known only when it was asked. Who surely has none is not asked.
 */
#include "tools/mcpx-bridge/expose/only.h"

#include "lib/core/glob.h"
#include "tools/mcpx-bridge/expose/state.h"
#include "tools/mcpx-bridge/expose/tell.h"

/* Bytes of an id up to which a name begins with all of it. */
enum { ID_WHOLE_MAX = 32 };

bool expose_only_covers(const struct expose *x, struct mcpx_slice participant,
                        struct mcpx_slice shown)
{
    bool covered = x->config.only_count == 0;

    for (size_t i = 0; i < x->config.only_count; i++) {
        struct expose_only *only = &x->only[i];
        struct mcpx_slice pattern = mcpx_text_view(&only->pattern);

        if (!mx_glob_matches(pattern, participant) &&
            (!shown.text || !mx_glob_matches(pattern, shown)))
            continue;
        only->fitted = true;
        covered = true;
    }
    return covered;
}

static bool is_plain(struct mcpx_slice id)
{
    for (size_t i = 0; i < id.len; i++)
        if (!expose_shown_may_hold(id.text[i]))
            return false;
    return id.len <= ID_WHOLE_MAX;
}

/* May a name that begins with the id and "__" fit? Up to a star, the pattern has to be the same. */
static bool may_name(struct mcpx_slice pattern, struct mcpx_slice id)
{
    static const char after[] = "__";

    for (size_t i = 0; i < pattern.len && i < id.len + 2; i++) {
        char expected = i < id.len ? id.text[i] : after[i - id.len];

        if (pattern.text[i] == '*')
            return true;
        if (pattern.text[i] != expected)
            return false;
    }
    return pattern.len > id.len + 2;
}

/* A URI begins with a scheme, in which there is no "_": anybody's could fit. */
static bool may_be_uri(struct mcpx_slice pattern)
{
    for (size_t i = 0; i < pattern.len; i++) {
        char byte = pattern.text[i];

        if (byte == '*' || byte == ':')
            return true;
        if (byte == '_')
            return false;
    }
    return false;
}

bool expose_only_wants(const struct expose *x, struct mcpx_slice participant)
{
    if (expose_only_covers(x, participant, (struct mcpx_slice){0}))
        return true;
    for (size_t i = 0; i < x->config.only_count; i++) {
        struct mcpx_slice pattern = mcpx_text_view(&x->only[i].pattern);

        if (x->names.plain || !is_plain(participant) || may_be_uri(pattern) ||
            may_name(pattern, participant))
            return true;
    }
    return false;
}

void expose_only_note(struct expose *x)
{
    for (size_t i = 0; i < x->config.only_count; i++)
        if (!x->only[i].fitted)
            expose_note_text(x,
                             mx_formatted("--only %s fits no participant and no name in the "
                                          "topic at present",
                                          expose_quoted(mcpx_text_view(&x->only[i].pattern))));
}
