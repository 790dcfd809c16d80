/*
 * name.c - what participants and topics may be called. The rules are those of header strings, so
 * a name that passes here can always be written into an envelope and read back.
 */
#include <mcpx/envelope.h>

#include "lib/core/control.h"
#include "lib/core/utf8.h"

static bool is_header_text(struct mcpx_slice text)
{
    return text.len >= 1 && text.len <= MCPX_ID_MAX && mx_control_find(text) == text.len &&
           mx_utf8_is_valid(text, NULL);
}

/* Cuts off a letter of ASCII in any case, `ſ` being one of s. False when another one is there. */
static bool take_letter(struct mcpx_slice *rest, char letter)
{
    static const struct mcpx_slice long_s = {"\xc5\xbf", 2};
    size_t len = 0;

    if (rest->len > 0 && (rest->text[0] | 0x20) == letter)
        len = 1;
    else if (letter == 's' && rest->len >= long_s.len &&
             memcmp(rest->text, long_s.text, long_s.len) == 0)
        len = long_s.len;
    rest->text += len;
    rest->len -= len;
    return len > 0;
}

/* `system` and `system:...` in any letter case: what the router signs its own envelopes with. */
static bool is_router_name(struct mcpx_slice id)
{
    for (const char *letter = "system"; *letter; letter++)
        if (!take_letter(&id, *letter))
            return false;
    return id.len == 0 || *id.text == ':';
}

bool mcpx_participant_id_is_valid(struct mcpx_slice id)
{
    return is_header_text(id) && !is_router_name(id);
}

/* Bytes of a final `~` and digits; 0 when the id has none. */
static size_t suffix_len(struct mcpx_slice id)
{
    size_t len = id.len;

    while (len > 0 && id.text[len - 1] >= '0' && id.text[len - 1] <= '9')
        len--;
    return len > 0 && len < id.len && id.text[len - 1] == '~' ? id.len - len + 1 : 0;
}

bool mcpx_identity_is_valid(struct mcpx_slice identity)
{
    return mcpx_participant_id_is_valid(identity) && suffix_len(identity) == 0;
}

struct mcpx_slice mcpx_identity_of(struct mcpx_slice id)
{
    return (struct mcpx_slice){id.text, id.len - suffix_len(id)};
}

bool mcpx_topic_name_is_valid(struct mcpx_slice name)
{
    return is_header_text(name);
}
