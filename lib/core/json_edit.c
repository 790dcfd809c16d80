/*
 * json_edit.c - an object written again with a few members changed. An object is `{`, pieces with
 * commas between them, `}`; a piece is one member with the white space on both of its sides. Pieces
 * are dropped, or copied with another value in them, or added, so all other bytes stay the
 * sender's. Reading into values and writing those would round its numbers and drop its doubles.
 */
#include "lib/core/json_write.h"

#include <mcpx/json.h>

/* The object being written. `tail` is the white space after the last piece, not yet written. */
struct edit {
    struct mcpx_text *out;
    const struct mcpx_json_change *changes;
    size_t count;
    uint64_t made; /* bit i: change i has been made */
    bool any;      /* a piece has been written */
    struct mcpx_slice tail;
};

static struct mcpx_slice between(const char *from, const char *to)
{
    return (struct mcpx_slice){from, (size_t)(to - from)};
}

/* The change asked for at the walk's member; `count` when none is. */
static size_t change_at(const struct edit *edit, const struct mcpx_json_walk *walk)
{
    size_t i = 0;

    while (i < edit->count && !mcpx_json_walk_at(walk, edit->changes[i].name))
        i++;
    return i;
}

/* What stood after the last piece now stands before this one. */
static void put_separator(struct edit *edit)
{
    mcpx_text_slice(edit->out, edit->tail);
    if (edit->any)
        mcpx_text_add(edit->out, ",", 1);
    edit->any = true;
}

/* Writes the walk's member, or not; `from` is where its piece begins. */
static void put_piece(struct edit *edit, const struct mcpx_json_walk *walk, const char *from)
{
    struct mcpx_slice value = walk->value;
    size_t i = change_at(edit, walk);

    if (i < edit->count && !edit->changes[i].value.text)
        return;
    if (i < edit->count && !(edit->made >> i & 1)) {
        value = edit->changes[i].value;
        edit->made |= UINT64_C(1) << i;
    }
    put_separator(edit);
    mcpx_text_slice(edit->out, between(from, walk->value.text));
    mcpx_text_slice(edit->out, value);
    edit->tail = between(walk->value.text + walk->value.len, walk->at);
}

void mcpx_json_add_changed(struct mcpx_text *out, struct mcpx_slice object,
                           const struct mcpx_json_change *changes, size_t count)
{
    struct edit edit = {.out = out, .changes = changes, .count = count};
    const char *from = object.text + 1;
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, object);
    mcpx_text_add(out, "{", 1);
    while (mcpx_json_walk_next(&walk)) {
        put_piece(&edit, &walk, from);
        from = walk.at + 1; /* behind the comma, or the last brace */
    }
    if (from == object.text + 1) /* there was no member */
        edit.tail = between(from, object.text + object.len - 1);
    for (size_t i = 0; i < count; i++)
        if (changes[i].value.text && !(edit.made >> i & 1))
            mx_json_add_raw(out, changes[i].name, changes[i].value);
    mcpx_text_slice(out, edit.tail);
    mcpx_text_add(out, "}", 1);
}
