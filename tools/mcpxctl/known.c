/*
 * known.c - from a URI to the text of a file. Which files may be read is said on the command line;
 * the URI, which stands in somebody else's schema, cannot lead to another one.
 */
#include "tools/mcpxctl/known.h"

#include "lib/core/format.h"
#include "lib/core/percent.h"
#include "tools/common/input.h"

#include <stdlib.h>

/* A file that was asked for; they form a list. One that cannot be read is complained of once. */
struct known_text {
    struct known_text *next;
    struct mcpx_text path;
    struct mcpx_text text;
    bool read;
};

void known_fini(struct known *known)
{
    struct known_text *next;

    for (struct known_text *at = known->texts; at; at = next) {
        next = at->next;
        mcpx_text_fini(&at->path);
        mcpx_text_fini(&at->text);
        free(at);
    }
    known->texts = NULL;
}

bool known_are_named(const struct arguments *arguments)
{
    const struct option_word *word;

    for (size_t at = 0; (word = arguments_next(arguments, "--known", &at));) {
        const char *equals = strchr(word->value, '=');

        if (equals && equals > word->value && equals[1] != '\0')
            continue;
        complain(arguments->command->name, "--known wants URI=PATH");
        return false;
    }
    return true;
}

/* The URI of a --known, without an empty fragment. */
static struct mcpx_slice uri_of(const struct option_word *word)
{
    struct mcpx_slice uri = {word->value, strcspn(word->value, "=")};

    uri.len -= uri.text[uri.len - 1] == '#';
    return uri;
}

static bool begins(struct mcpx_slice text, struct mcpx_slice with)
{
    return text.len >= with.len && memcmp(text.text, with.text, with.len) == 0;
}

/* The --known that a URI falls under, with the longest URI of its own; NULL when none does. */
static const struct option_word *option_for(const struct known *known, struct mcpx_slice uri)
{
    const struct option_word *word, *best = NULL;

    for (size_t at = 0; (word = arguments_next(known->arguments, "--known", &at));) {
        struct mcpx_slice own = uri_of(word);
        bool folder = own.len > 0 && own.text[own.len - 1] == '/';

        if ((mcpx_slice_equal(uri, own) || (folder && begins(uri, own))) &&
            (!best || own.len > uri_of(best).len))
            best = word;
    }
    return best;
}

/* Appends a path that stays in its folder: no part of it is empty, "." or "..", or holds NUL. */
static bool add_path(struct mcpx_text *out, struct mcpx_slice rest)
{
    size_t begin = out->len;

    while (rest.len > 0) {
        char byte;
        size_t len = mx_percent_read(rest, &byte);

        mcpx_text_add(out, &byte, 1);
        rest.text += len;
        rest.len -= len;
    }
    for (size_t at = begin; !out->failed && at <= out->len;) {
        const char *part = out->text + at;
        size_t len = strcspn(part, "/");

        if (len == 0 || (len == 1 && part[0] == '.') ||
            (len == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        at += len;
        if (at < out->len && out->text[at] == '\0')
            return false;
        at++;
    }
    return !out->failed;
}

/* Appends the path that a URI stands for. */
static bool find_path(const struct known *known, struct mcpx_slice uri, struct mcpx_text *out)
{
    const struct option_word *word = option_for(known, uri);
    struct mcpx_slice own;

    if (!word)
        return false;
    own = uri_of(word);
    mcpx_text_puts(out, strchr(word->value, '=') + 1);
    if (uri.len == own.len)
        return !out->failed;
    mcpx_text_puts(out, "/");
    return add_path(out, (struct mcpx_slice){uri.text + own.len, uri.len - own.len});
}

/* Reads a file, unless it was read before; NULL when it cannot. Takes `path`. */
static const struct known_text *read_text(struct known *known, struct mcpx_text *path)
{
    struct known_text *text;

    for (text = known->texts; text; text = text->next) {
        if (!mcpx_slice_equal(mcpx_text_view(&text->path), mcpx_text_view(path)))
            continue;
        mcpx_text_fini(path);
        return text;
    }
    text = calloc(1, sizeof *text);
    if (!text) {
        mcpx_text_fini(path);
        return NULL;
    }
    *text = (struct known_text){.next = known->texts, .path = *path};
    known->texts = text;
    text->read =
        input_read(known->arguments->command->name, path->text, &text->text) == STATUS_OK;
    return text;
}

bool known_find(void *context, struct mcpx_slice uri, struct mcpx_slice *text)
{
    struct known *known = context;
    struct mcpx_text path = {0};
    const struct known_text *found;

    if (!find_path(known, uri, &path)) {
        mcpx_text_fini(&path);
        return false;
    }
    found = read_text(known, &path);
    if (!found || !found->read)
        return false;
    *text = mcpx_text_view(&found->text);
    return true;
}
