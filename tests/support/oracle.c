/*
 * oracle.c - the rules of protocol section 3 over whole texts, with sets of states.
 * The library compares component with component, or asks PCRE2; this walks the kind once and keeps
 * every position of the pattern that could be meant so far, which is slow, allocates on the stack
 * and is hard to get wrong.
 */
#include "tests/support/oracle.h"

#include <strings.h>

enum { PATTERN_MAX = 2048 };

static size_t count_colons(struct mcpx_slice text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += text.text[i] == ':';
    return count;
}

/* Where the context begins; the text's length when there is none. */
static size_t context_at(struct mcpx_slice text)
{
    size_t colons = 0;

    for (size_t i = 0; i < text.len; i++)
        if (text.text[i] == ':' && ++colons == 2)
            return i + 1;
    return text.len;
}

/* Stars may be passed without taking a byte. */
static void pass_stars(struct mcpx_slice body, bool *states)
{
    for (size_t i = 0; i < body.len; i++)
        if (states[i] && body.text[i] == '*')
            states[i + 1] = true;
}

/* One byte of the kind: a star before the pattern's context does not take a colon. */
static void step(struct mcpx_slice body, size_t context, char byte, bool *states)
{
    bool next[PATTERN_MAX + 1] = {false};

    for (size_t i = 0; i < body.len; i++) {
        if (!states[i])
            continue;
        if (body.text[i] == '*')
            next[i] |= byte != ':' || i >= context;
        else if (body.text[i] == byte)
            next[i + 1] = true;
    }
    memcpy(states, next, sizeof next);
    pass_stars(body, states);
}

bool oracle_covers(struct mcpx_slice pattern, struct mcpx_slice kind, bool denies)
{
    bool states[PATTERN_MAX + 1] = {true};
    struct mcpx_slice body = pattern;
    size_t context = context_at(pattern);
    size_t stars = 0;
    bool tail; /* whole components may follow */

    for (size_t i = context; i < pattern.len; i++)
        stars += pattern.text[i] == '*';
    if (context < pattern.len && stars == pattern.len - context)
        body.len = context - 1; /* rule 4: "a:b:*" is "a:b" */
    else if (stars > 0 && !denies && oracle_is_dotted(kind))
        return false; /* rule 6 */
    tail =
        count_colons(body) == 1 || (count_colons(body) == 0 && body.text[body.len - 1] == '*');
    pass_stars(body, states);
    for (size_t i = 0; i < kind.len; i++) {
        if (tail && states[body.len] && kind.text[i] == ':')
            return true;
        step(body, context, kind.text[i], states);
    }
    return states[body.len];
}

static bool begins(const char *text, size_t len, const char *word)
{
    return len >= strlen(word) && strncasecmp(text, word, strlen(word)) == 0;
}

/* What ends a segment becomes "/", "%2e" becomes "."; then every segment is looked at. */
bool oracle_is_dotted(struct mcpx_slice kind)
{
    static const char *const spellings[] = {"/",   "\\",  "?",   "#",  "%2f",
                                            "%5c", "%3f", "%23", "%2e"};
    char decoded[PATTERN_MAX + 2];
    size_t len = 0, from = 0;

    for (size_t i = context_at(kind); i < kind.len;) {
        size_t taken = 1;

        decoded[len] = kind.text[i];
        for (size_t j = 0; j < sizeof spellings / sizeof *spellings; j++) {
            if (!begins(kind.text + i, kind.len - i, spellings[j]))
                continue;
            decoded[len] = j < 8 ? '/' : '.';
            taken = strlen(spellings[j]);
        }
        len++;
        i += taken;
    }
    if (len == 0)
        return false;
    decoded[len++] = '/';
    for (size_t i = 0; i < len; i++) {
        if (decoded[i] != '/')
            continue;
        if (i - from >= 1 && i - from <= 2 && memcmp(decoded + from, "..", i - from) == 0)
            return true;
        from = i + 1;
    }
    return false;
}

bool oracle_is_reserved(struct mcpx_slice kind)
{
    size_t len = 0;

    while (len < kind.len && kind.text[len] != '/' && kind.text[len] != ':')
        len++;
    return (len == 6 && strncasecmp(kind.text, "system", 6) == 0) ||
           (len == 8 && strncasecmp(kind.text, "presence", 8) == 0);
}
