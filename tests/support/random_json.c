/*
 * random_json.c - grows a text from a grammar with plenty of odd white space, escapes and
 * numbers, then lets damage be done to it with the bytes that matter to a JSON reader.
 */
#include "tests/support/random_json.h"

#include <string.h>

/* Text under construction; `budget` values are still allowed to open. */
struct growth {
    uint64_t *state;
    char *out;
    size_t len, size;
    int budget;
};

uint32_t random_below(uint64_t *state, uint32_t bound)
{
    uint64_t mixed = (*state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(mixed ^ mixed >> 31) % bound;
}

static uint32_t below(struct growth *growth, uint32_t bound)
{
    return random_below(growth->state, bound);
}

static void put(struct growth *growth, const char *text)
{
    size_t len = strlen(text);

    if (growth->len + len >= growth->size)
        return;
    memcpy(growth->out + growth->len, text, len);
    growth->len += len;
}

static void put_space(struct growth *growth)
{
    static const char *const spaces[] = {" ", "\n", "\t", "\r\n", "        "};

    if (below(growth, 6) == 0)
        put(growth, spaces[below(growth, 5)]);
}

static void put_string(struct growth *growth)
{
    static const char *const pieces[] = {
        "a",
        "kind",
        "id",
        "0123456789",
        " ",
        "\\n",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u0041",
        "\\u00e9",
        "\\uFFFD",
        "\\ud83d\\ude00",
        "\xc3\xa9",
        "\xe2\x82\xac",
        "\xed\x9f\xbf",
        "\xf0\x9f\x98\x80",
        "\x7f",
        "{",
        "]",
    };
    uint32_t count = below(growth, 5);

    put(growth, "\"");
    while (count--)
        put(growth, pieces[below(growth, sizeof pieces / sizeof *pieces)]);
    put(growth, "\"");
}

static void put_scalar(struct growth *growth)
{
    static const char *const scalars[] = {
        "0",    "-0",  "1",    "-1",      "12345", "9223372036854775807",
        "0.5",  "1e5", "1E-5", "-1.5e+3", "true",  "false",
        "null", "0e0",
    };

    if (below(growth, 2))
        put_string(growth);
    else
        put(growth, scalars[below(growth, sizeof scalars / sizeof *scalars)]);
}

static void put_value(struct growth *growth, int depth);

static void put_elements(struct growth *growth, int depth, int is_object)
{
    uint32_t count = below(growth, 4);

    put(growth, is_object ? "{" : "[");
    put_space(growth);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            put(growth, ",");
        put_space(growth);
        if (is_object) {
            put_string(growth);
            put_space(growth);
            put(growth, ":");
            put_space(growth);
        }
        put_value(growth, depth + 1);
        put_space(growth);
    }
    put(growth, is_object ? "}" : "]");
}

static void put_value(struct growth *growth, int depth)
{
    if (depth < 12 && growth->budget > 0 && below(growth, 3)) {
        growth->budget--;
        put_elements(growth, depth, below(growth, 3) > 0);
    } else {
        put_scalar(growth);
    }
}

size_t random_json(uint64_t *state, char *out, size_t size)
{
    struct growth growth = {state, out, 0, size, 8};
    size_t len;

    do { /* a text that filled the room was cut: grow another */
        growth.len = 0;
        growth.budget = 8;
        put_space(&growth);
        put_value(&growth, 0);
        put_space(&growth);
        len = growth.len;
    } while (len + 32 >= size);
    return len;
}

size_t random_damage(uint64_t *state, char *text, size_t len, size_t size)
{
    static const char bytes[] = "{}[],:\"\\/ \n\t\x01\x1f\x7f"
                                "0123456789+-.eEutrfalsn'\x80\xbf\xc0\xc3\xe2\xed\xf0\xf5\xff";
    uint32_t times = 1 + random_below(state, 3);

    while (times-- && len > 0) {
        size_t at = random_below(state, (uint32_t)len);
        char byte = bytes[random_below(state, sizeof bytes - 1)];
        uint32_t how = random_below(state, 4);

        if (how == 0 && len < size) { /* insert */
            memmove(text + at + 1, text + at, len - at);
            text[at] = byte;
            len++;
        } else if (how == 1) { /* remove */
            memmove(text + at, text + at + 1, len - at - 1);
            len--;
        } else if (how == 2) { /* cut */
            len = random_below(state, 8) ? len : at;
        } else {
            text[at] = byte;
        }
    }
    return len;
}
