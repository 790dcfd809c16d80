/*
 * json_write.h - objects and arrays with optional members. Each function here, and
 * mcpx_json_add_member, puts a comma in front when the text ends (white space aside) in a byte
 * other than `{ [ : ,`, so a caller need not know the text before. For a fixed shape mx_format is
 * shorter.
 *
 * `name` needs no escapes; NULL: the value has no name, because it stands in an array or alone.
 */
#ifndef MX_JSON_WRITE_H
#define MX_JSON_WRITE_H

#include "lib/base/scoped.h"

/** Begins an object; mx_json_end_object ends it. */
void mx_json_begin_object(struct mcpx_text *out, const char *name);

/** Ends an object. */
void mx_json_end_object(struct mcpx_text *out);

/** Begins an array; mx_json_end_array ends it. */
void mx_json_begin_array(struct mcpx_text *out, const char *name);

/** Ends an array. */
void mx_json_end_array(struct mcpx_text *out);

/** Appends a value that is JSON text already. */
void mx_json_add_raw(struct mcpx_text *out, const char *name, struct mcpx_slice value);

/** Appends a number. */
void mx_json_add_number(struct mcpx_text *out, const char *name, int64_t number);

/** Appends true or false. */
void mx_json_add_bool(struct mcpx_text *out, const char *name, bool value);

/** Appends a string, unless it is absent. */
void mx_json_add_optional(struct mcpx_text *out, const char *name, struct mcpx_slice text);

/** Appends an instant as mx_time_format writes it, unless it is 0. */
void mx_json_add_time(struct mcpx_text *out, const char *name, int64_t wall_ms);

/** Appends an array of strings. */
void mx_json_add_strings(struct mcpx_text *out, const char *name,
                         const struct mcpx_slice *texts, size_t count);

/** Appends a string without a name; one with a name is mcpx_json_add_member's. */
void mx_json_add_item(struct mcpx_text *out, struct mcpx_slice text);

/*
 * Text composed by a format that shows its shape:
 *
 *     mx_format(out, "{\"id\":%q,\"serial\":%s}", id, serial);
 *
 * The compiler knows the arguments' types, so a sign gives the notation of a piece, not its type. A
 * wrong type does not compile, a wrong number of arguments stops a debug build.
 */

/** An argument of mx_format, made by MX_PIECE only. */
struct mx_piece {
    enum mx_piece_type { MX_PIECE_TEXT, MX_PIECE_SIGNED, MX_PIECE_UNSIGNED } type;
    bool failed; /* a growing text without all of its content */
    uint64_t number;
    struct mcpx_slice text;
};

/**
 * Appends to `out` by a format:
 *
 *     %s   the next argument as it is
 *     %q   the next argument as a JSON string, as mcpx_json_add_string writes it
 *     %b   the next argument, a number of bytes, as people read it: `512 bytes`, `7.6 GiB`
 *     %t   the next argument, milliseconds, likewise: `250 ms`, `4.2 s`, `5 min 3 s`, `2 d 4 h`
 *     %%   a percent sign
 *
 * An argument is a struct mcpx_slice, a C string, a pointer to a struct mcpx_text, a bool ("true",
 * "false"), or a whole number from int to 64 bits. NULL and an absent slice are empty: `%s` appends
 * nothing, `%q` appends "". There are 1 to 10 of them, each evaluated once.
 *
 * `true`, `false` and comparisons are ints to the compiler: cast them to bool.
 *
 * Failure is sticky as with mcpx_text_add; a growing text that has failed makes `out` fail too.
 * If signs and arguments do not agree in number, an assertion fails; without assertions `out` does.
 */
#define mx_format(out, format, ...)                                                           \
    mx_format_pieces((out), (format), MX_NTH(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),  \
                     (const struct mx_piece[]){MX_PIECES(__VA_ARGS__)})

/** The function behind mx_format. */
void mx_format_pieces(struct mcpx_text *out, const char *format, size_t count,
                      const struct mx_piece *pieces);

/** Returns the same as a new text. */
#define mx_formatted(format, ...)                                                             \
    mx_formatted_pieces((format), MX_NTH(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),      \
                        (const struct mx_piece[]){MX_PIECES(__VA_ARGS__)})

/** The function behind mx_formatted. */
struct mcpx_text mx_formatted_pieces(const char *format, size_t count,
                                     const struct mx_piece *pieces);

/** An argument of mx_format as a piece. */
#define MX_PIECE(value)                                                                       \
    _Generic((value),                                                                          \
        struct mcpx_slice: mx_piece_slice,                                                     \
        char *: mx_piece_string,                                                               \
        const char *: mx_piece_string,                                                         \
        struct mcpx_text *: mx_piece_text,                                                     \
        const struct mcpx_text *: mx_piece_text,                                               \
        bool: mx_piece_bool,                                                                   \
        int: mx_piece_signed,                                                                  \
        long: mx_piece_signed,                                                                 \
        long long: mx_piece_signed,                                                            \
        unsigned short: mx_piece_unsigned,                                                     \
        unsigned: mx_piece_unsigned,                                                           \
        unsigned long: mx_piece_unsigned,                                                      \
        unsigned long long: mx_piece_unsigned)(value)

static inline struct mx_piece mx_piece_slice(struct mcpx_slice text)
{
    return (struct mx_piece){.text = text};
}

static inline struct mx_piece mx_piece_string(const char *text)
{
    return (struct mx_piece){.text = text ? mcpx_slice_of(text) : (struct mcpx_slice){0}};
}

static inline struct mx_piece mx_piece_text(const struct mcpx_text *text)
{
    return (struct mx_piece){.text = mcpx_text_view(text), .failed = text->failed};
}

static inline struct mx_piece mx_piece_bool(bool value)
{
    return mx_piece_string(value ? "true" : "false");
}

static inline struct mx_piece mx_piece_signed(int64_t number)
{
    return (struct mx_piece){.type = MX_PIECE_SIGNED, .number = (uint64_t)number};
}

static inline struct mx_piece mx_piece_unsigned(uint64_t number)
{
    return (struct mx_piece){.type = MX_PIECE_UNSIGNED, .number = number};
}

/* MX_PIECE of each argument: the preprocessor has no loop. */
#define MX_NTH(a, b, c, d, e, f, g, h, i, j, nth, ...) nth
#define MX_PIECES(...)                                                                        \
    MX_NTH(__VA_ARGS__, MX_PIECES_10, MX_PIECES_9, MX_PIECES_8, MX_PIECES_7, MX_PIECES_6,     \
           MX_PIECES_5, MX_PIECES_4, MX_PIECES_3, MX_PIECES_2, MX_PIECE, 0)                   \
    (__VA_ARGS__)
#define MX_PIECES_2(a, ...) MX_PIECE(a), MX_PIECE(__VA_ARGS__)
#define MX_PIECES_3(a, ...) MX_PIECE(a), MX_PIECES_2(__VA_ARGS__)
#define MX_PIECES_4(a, ...) MX_PIECE(a), MX_PIECES_3(__VA_ARGS__)
#define MX_PIECES_5(a, ...) MX_PIECE(a), MX_PIECES_4(__VA_ARGS__)
#define MX_PIECES_6(a, ...) MX_PIECE(a), MX_PIECES_5(__VA_ARGS__)
#define MX_PIECES_7(a, ...) MX_PIECE(a), MX_PIECES_6(__VA_ARGS__)
#define MX_PIECES_8(a, ...) MX_PIECE(a), MX_PIECES_7(__VA_ARGS__)
#define MX_PIECES_9(a, ...) MX_PIECE(a), MX_PIECES_8(__VA_ARGS__)
#define MX_PIECES_10(a, ...) MX_PIECE(a), MX_PIECES_9(__VA_ARGS__)

#endif
