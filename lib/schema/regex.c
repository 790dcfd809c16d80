/*
 * regex.c - PCRE2, with its compiler to machine code where there is one. Backtracking can take
 * exponential time, and the library must not read the clock: so each match runs with a small limit
 * first, and again with a larger one while that does not suffice. Each limit is paid for in
 * advance, in steps of the evaluation: this bounds a hundred thousand matches together, each just
 * below a limit.
 *
 * PCRE2 restarts its count at each possible place of a match in the text. One count can be a walk
 * to the end of the text, in a repetition, or to the end of a long pattern. So an unanchored
 * pattern pays for each place: for its length and, if it repeats, for the text. Most matches are
 * near the beginning, so places are tried, and paid, in growing portions.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "lib/schema/regex.h"

#include "lib/base/scoped.h"

#include <mcpx/schema.h>
#include <pcre2.h>
#include <stdlib.h>

enum {
    LIMIT_FIRST = 4,      /* match limit of the first attempt */
    LIMIT_FACTOR = 16,    /* of each further one */
    PLACES_FIRST = 16,    /* places of the first portion */
    PLACES_FACTOR = 8,    /* of each further one */
    PART = 256,           /* parts of a step, the unit of one count's price: */
    PARTS_ONCE = 4,       /* the base price, plus one part per byte of a repetition's walk, */
    BYTES_PER_PART = 32,  /* plus one part per so many bytes of the pattern */
    SLOWER = 16,          /* factor of the price without machine code */
    BYTES_PER_STEP = 128, /* of text, walked once */
    HEAP_KIB = 1024,      /* of a match without machine code */
    LONG = 512,           /* bytes of a pattern with fewer optimisations */
    MACHINE_EACH = 2048,  /* limit of bytes to become machine code, of a pattern */
    MACHINE_ALL = 8192,   /* and of all patterns of a schema */
    STACK_FIRST = 32 * 1024,
    STACK_MAX = 1024 * 1024
};

struct mx_regex {
    pcre2_code *code;
    size_t len;
    bool anchored;
    bool repeats;
    bool is_machine; /* it has machine code */
};

struct mx_regex_matcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

static const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |
                                PCRE2_ALLOW_EMPTY_CLASS | PCRE2_NEVER_BACKSLASH_C |
                                PCRE2_NO_UTF_CHECK | PCRE2_USE_OFFSET_LIMIT;

/* Turns off two optimisations. Auto-possession takes quadratic time, and has a bug with negated
 * scripts. Start optimisation would demand a lookahead's text once more behind it. */
static enum mcpx_err compile(struct mcpx_slice pattern, struct mx_regex *regex,
                             struct mcpx_text *reason)
{
    const char *text = pattern.text ? pattern.text : "";
    bool is_slow = pattern.len > LONG || strstr(text, "{sc");
    uint32_t how = options | (is_slow ? PCRE2_NO_AUTO_POSSESS : 0) |
                   (strstr(text, "(?=") ? PCRE2_NO_START_OPTIMIZE : 0);
    PCRE2_UCHAR message[128];
    PCRE2_SIZE offset;
    int error;

    regex->code = pcre2_compile((PCRE2_SPTR)text, pattern.len, how, &error, &offset, NULL);
    if (regex->code)
        return MCPX_OK;
    if (error == PCRE2_ERROR_NOMEMORY || error == PCRE2_ERROR_HEAP_FAILED)
        return MCPX_ENOMEM;
    pcre2_get_error_message(error, message, sizeof message);
    mcpx_text_puts(reason, "must be a regular expression that PCRE2 can match: ");
    mcpx_text_puts(reason, (const char *)message);
    return MCPX_EPATTERN;
}

/* Counts the pattern in. Only small and few patterns get machine code: it takes up to sixty times
 * the memory, and longer to make than all the rest. Some machines have no such compiler. */
static enum mcpx_err count(struct mx_regex *regex, struct mx_regex_sums *sums)
{
    size_t size = 0, machine = 0;

    pcre2_pattern_info(regex->code, PCRE2_INFO_SIZE, &size);
    sums->code += size;
    if (sums->code > MCPX_SCHEMA_PATTERNS_MAX)
        return MCPX_ELIMIT;
    if (size <= MACHINE_EACH && sums->machine + size <= MACHINE_ALL) {
        sums->machine += size;
        pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
        pcre2_pattern_info(regex->code, PCRE2_INFO_JITSIZE, &machine);
        regex->is_machine = machine > 0;
    }
    sums->memory += sizeof *regex + size + machine;
    return MCPX_OK;
}

static void look_at(struct mx_regex *regex, struct mcpx_slice pattern)
{
    uint32_t all = 0;

    pcre2_pattern_info(regex->code, PCRE2_INFO_ALLOPTIONS, &all);
    regex->len = pattern.len;
    regex->anchored = all & PCRE2_ANCHORED;
    for (size_t i = 0; i < pattern.len; i++)
        regex->repeats = regex->repeats || memchr("*+{", pattern.text[i], 3);
}

enum mcpx_err mx_regex_new(struct mcpx_slice pattern, struct mx_regex **out,
                           struct mx_regex_sums *sums, struct mcpx_text *reason)
{
    mx_scoped_text translated = {0};
    struct mx_regex *regex = calloc(1, sizeof *regex);
    const char *why = "";
    enum mcpx_err err = regex ? MCPX_OK : MCPX_ENOMEM;

    if (regex && !mx_ecma_translate(pattern, &translated, &why)) {
        mcpx_text_puts(reason, why);
        err = MCPX_EPATTERN;
    } else if (regex) {
        err = translated.failed ? MCPX_ENOMEM
                                : compile(mcpx_text_view(&translated), regex, reason);
    }
    if (!err)
        err = count(regex, sums);
    if (err) {
        mx_regex_free(regex);
        return err;
    }
    look_at(regex, pattern);
    *out = regex;
    return MCPX_OK;
}

void mx_regex_free(struct mx_regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    free(regex);
}

struct mx_regex_matcher *mx_regex_matcher_new(void)
{
    struct mx_regex_matcher *matcher = calloc(1, sizeof *matcher);

    if (!matcher)
        return NULL;
    matcher->data = pcre2_match_data_create(1, NULL);
    matcher->context = pcre2_match_context_create(NULL);
    matcher->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MAX, NULL);
    if (!matcher->data || !matcher->context) {
        mx_regex_matcher_free(matcher);
        return NULL;
    }
    if (matcher->stack)
        pcre2_jit_stack_assign(matcher->context, NULL, matcher->stack);
    pcre2_set_heap_limit(matcher->context, HEAP_KIB);
    return matcher;
}

void mx_regex_matcher_free(struct mx_regex_matcher *matcher)
{
    if (!matcher)
        return;
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    pcre2_jit_stack_free(matcher->stack);
    free(matcher);
}

/* Subtracts the price of a match at `places` places from the steps. */
static bool pay(const struct mx_regex *regex, size_t len, uint64_t places, uint32_t limit,
                int64_t *steps)
{
    uint64_t once = (PARTS_ONCE + regex->len / BYTES_PER_PART + (regex->repeats ? len : 0)) *
                    (regex->is_machine ? 1 : SLOWER);
    uint64_t most = (uint64_t)INT64_MAX / PART / limit / once;
    uint64_t price = 1 + len / BYTES_PER_STEP + places * limit * once / PART;

    if (places > most || *steps < 0 || price > (uint64_t)*steps)
        return false;
    *steps -= (int64_t)price;
    return true;
}

/* Tries the places of a range; its ends are beginnings of characters. */
static int try_places(const struct mx_regex *regex, struct mx_regex_matcher *matcher,
                      struct mcpx_slice text, const size_t range[2], int64_t *steps)
{
    uint64_t places = regex->anchored ? 1 : range[1] - range[0] + 1;
    int found = PCRE2_ERROR_MATCHLIMIT;

    pcre2_set_offset_limit(matcher->context, range[1]);
    for (uint32_t limit = LIMIT_FIRST; found == PCRE2_ERROR_MATCHLIMIT;
         limit *= LIMIT_FACTOR) {
        if (limit > UINT32_MAX / LIMIT_FACTOR || !pay(regex, text.len, places, limit, steps))
            return PCRE2_ERROR_MATCHLIMIT;
        pcre2_set_match_limit(matcher->context, limit);
        found = pcre2_match(regex->code, (PCRE2_SPTR)text.text, text.len, range[0],
                            PCRE2_NO_UTF_CHECK, matcher->data, matcher->context);
    }
    return found;
}

/* The end of a portion that begins at `from`: the beginning of a character, or the text's end. */
static size_t portion_end(const struct mx_regex *regex, struct mcpx_slice text, size_t from,
                          size_t places)
{
    size_t to = from + places - 1;

    if (regex->anchored || to >= text.len)
        return text.len;
    while (to < text.len && (text.text[to] & 0xc0) == 0x80)
        to++;
    return to;
}

enum mx_match mx_regex_match(const struct mx_regex *regex, struct mx_regex_matcher *matcher,
                             struct mcpx_slice text, int64_t *steps)
{
    size_t range[2] = {0, 0}, places = PLACES_FIRST;
    int found;

    if (!text.text)
        text.text = "";
    do {
        range[1] = portion_end(regex, text, range[0], places);
        found = try_places(regex, matcher, text, range, steps);
        range[0] = range[1] + 1;
        while (range[0] < text.len && (text.text[range[0]] & 0xc0) == 0x80)
            range[0]++;
        places *= PLACES_FACTOR;
    } while (found == PCRE2_ERROR_NOMATCH && range[1] < text.len);
    if (found >= 0)
        return MX_MATCH_YES;
    if (found == PCRE2_ERROR_NOMATCH)
        return MX_MATCH_NO;
    return found == PCRE2_ERROR_NOMEMORY ? MX_MATCH_MEMORY : MX_MATCH_LIMIT;
}
