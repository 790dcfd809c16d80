/*
 * capability.c - turns a set's patterns into PCRE2 programs and asks them.
 * A decision is one match of one program:
 *
 *     (?!(?:DENIAL|...)\z)(?:GRANT|GRANT|(?>GRANT)\z(?C'7')|...)
 *
 * anchored at both ends. A grant with conditions ends in a callout that carries its index; PCRE2
 * calls back when such a grant covers the kind, and goes on to the next when its conditions do
 * not hold, so conditions cost nothing until they matter. A second list of programs, without the
 * grants that have a "*" among other bytes of their context, decides dotted contexts (rule 6).
 * Where a set is too large for one program (PCRE2 links are 16 bits wide) a list of programs is
 * asked in turn; each says for itself whether a match allows or refuses.
 * Whatever is not a plain match, every limit included, is a no. Programs run on the 32 KiB of the
 * C stack that PCRE2 takes for them: our expressions keep a few words there for each open group, of
 * which there are three, and a stack per set would be most of what a set costs.
 * A set with a pattern that a program looks for too slowly has no programs: its patterns are asked
 * one by one (capset_walk.c). So are those of each set where there is no JIT, because PCRE2's
 * interpreter is slower than that even for ordinary patterns, and a hundred times for the worst.
 *
 * An explanation has the same verdict; the reasons come from a walk over the single patterns.
 * Programs of their own for every pattern would say the same (the tests compare both ways) at a
 * hundred times the cost of making a set, for the sake of refusals that most participants never
 * meet.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "lib/protocol/capset.h"

#include <stdlib.h>

enum {
    TEXT_MAX = 28000,       /* bytes of one program's text; compiles to at most twice that */
    DENY_INLINE_MAX = 8000, /* bytes of denials worth repeating in every program */
    MEMO_PATTERNS_MIN = 4   /* fewer are matched about as fast as a verdict is found */
};

static const uint32_t compile_options = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL |
                                        PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE |
                                        PCRE2_NEVER_UTF | PCRE2_NEVER_UCP;

/* `refuses`: a match means no. */
struct program {
    pcre2_code *code;
    bool refuses;
};

struct program_list {
    struct program *programs;
    size_t count;
    size_t size;
};

/*
 * `walks`: programs are missing or could take long, and the patterns are asked one by one instead.
 * `rule6`: some grant is missing in `dotted`; else `dotted` is empty and `plain` serves both.
 */
struct mx_matcher {
    pcre2_general_context *memory;
    pcre2_compile_context *compiling; /* until the matcher is made */
    pcre2_match_data *data;
    pcre2_match_context *context;
    bool walks;
    bool rule6;
    struct program_list plain;
    struct program_list dotted;
};

/* A program list in the making. `prefix` holds the denials when they are few. */
struct builder {
    struct mcpx_capset *set;
    struct mx_matcher *matcher;
    struct program_list *list;
    struct mcpx_text prefix;
    struct mcpx_text text;
    bool any; /* an alternative stands in `text` */
};

static void list_fini(struct program_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        pcre2_code_free(list->programs[i].code);
    free(list->programs);
}

static enum mcpx_err list_add(struct program_list *list, struct program program)
{
    if (list->count == list->size) {
        size_t size = list->size ? list->size * 2 : 1;
        struct program *grown = realloc(list->programs, size * sizeof *grown);

        if (!grown)
            return MCPX_ENOMEM;
        list->programs = grown;
        list->size = size;
    }
    list->programs[list->count++] = program;
    return MCPX_OK;
}

/* Compiles the alternatives gathered so far, if any, and begins anew. */
static enum mcpx_err flush(struct builder *builder, bool refuses)
{
    struct program program = {.refuses = refuses};
    PCRE2_SIZE offset;
    enum mcpx_err err;
    int code;

    if (!builder->any)
        return MCPX_OK;
    mcpx_text_puts(&builder->text, ")");
    if (builder->text.failed)
        return MCPX_ENOMEM;
    program.code = pcre2_compile((PCRE2_SPTR)builder->text.text, builder->text.len,
                                 compile_options, &code, &offset, builder->matcher->compiling);
    if (!program.code) /* every text we write is a valid expression, so it is size or memory */
        return code == PCRE2_ERROR_HEAP_FAILED ? MCPX_ENOMEM : MCPX_ELIMIT;
    if (pcre2_jit_compile(program.code, PCRE2_JIT_COMPLETE) != 0)
        builder->matcher->walks = true;
    err = list_add(builder->list, program);
    if (err)
        pcre2_code_free(program.code);
    mcpx_text_reset(&builder->text);
    builder->any = false;
    return err;
}

/* Appends one alternative, after compiling those before it when there is no room for more. */
static enum mcpx_err add_alternative(struct builder *builder, size_t index)
{
    struct mcpx_capset *set = builder->set;
    const struct mx_pattern *pattern = &set->patterns[index];
    bool refuses = index >= set->grant_count;
    bool conditional = !refuses && mcpx_grant_is_conditional(&set->grants[index]);
    enum mcpx_err err = MCPX_OK;

    if (builder->any && builder->text.len + 12 * pattern->parts.text.len > TEXT_MAX)
        err = flush(builder, refuses);
    if (err)
        return err;
    if (!builder->any)
        mcpx_text_slice(&builder->text, mcpx_text_view(&builder->prefix));
    mcpx_text_puts(&builder->text, builder->any ? "|" : "(?:");
    builder->any = true;
    if (conditional)
        mcpx_text_puts(&builder->text, "(?>");
    mx_pattern_regex(pattern, &builder->text);
    if (conditional)
        mx_format(&builder->text, ")\\z(?C'%s')", index);
    return MCPX_OK;
}

/* Few denials become a prefix of every program, many become programs that refuse. */
static enum mcpx_err add_denials(struct builder *builder)
{
    struct mcpx_capset *set = builder->set;
    struct mcpx_text *prefix = &builder->prefix;
    enum mcpx_err err = MCPX_OK;

    if (set->deny_count == 0)
        return MCPX_OK;
    for (size_t i = 0; i < set->deny_count; i++) {
        mcpx_text_puts(prefix, i > 0 ? "|" : "(?!(?:");
        mx_pattern_regex(&set->patterns[set->grant_count + i], prefix);
    }
    mcpx_text_puts(prefix, ")\\z)");
    if (prefix->failed)
        return MCPX_ENOMEM;
    if (prefix->len <= DENY_INLINE_MAX)
        return MCPX_OK;
    mcpx_text_reset(prefix);
    for (size_t i = 0; i < set->deny_count && !err; i++)
        err = add_alternative(builder, set->grant_count + i);
    return err ? err : flush(builder, true);
}

static enum mcpx_err build(struct mx_matcher *matcher, struct mcpx_capset *set, bool dotted)
{
    struct builder builder = {
        .set = set, .matcher = matcher, .list = dotted ? &matcher->dotted : &matcher->plain};
    enum mcpx_err err = add_denials(&builder);

    for (size_t i = 0; i < set->grant_count && !err; i++)
        if (!dotted || !set->patterns[i].context_stars)
            err = add_alternative(&builder, i);
    if (!err)
        err = flush(&builder, false);
    mcpx_text_fini(&builder.prefix);
    mcpx_text_fini(&builder.text);
    return err;
}

/* A conditional grant covers the kind: 0 goes on to the match, 1 to the next alternative. */
static int on_conditional(pcre2_callout_block *block, void *context)
{
    struct mcpx_capset *set = context;
    struct mcpx_slice number = {(const char *)block->callout_string,
                                block->callout_string_length};
    uint64_t index = 0;

    set->depends = true;
    (void)mx_decimal_read(number, UINT64_MAX, &index); /* written by us */
    return mx_grant_condition(&set->grants[index], set->question) != MCPX_ALLOWED;
}

/*
 * No honest match needs more: an atomic run of literal bytes is looked for at each byte of a
 * kind at most once per "*", and every alternative is tried once.
 */
static uint32_t match_limit(const struct mcpx_capset *set)
{
    uint32_t stars = 0;

    for (size_t i = 0; i < set->grant_count + set->deny_count; i++)
        for (size_t j = 0; j < set->patterns[i].parts.text.len; j++)
            stars += set->patterns[i].parts.text.text[j] == '*';
    return 100000 + stars * 2 * MCPX_KIND_MAX;
}

/* PCRE2 gets its memory from here, so that a test which lets allocations fail reaches it. */
static void *take_memory(PCRE2_SIZE size, void *context)
{
    (void)context;
    return malloc(size);
}

static void give_memory(void *memory, void *context)
{
    (void)context;
    free(memory);
}

static enum mcpx_err prepare(struct mx_matcher *matcher)
{
    matcher->memory = pcre2_general_context_create(take_memory, give_memory, NULL);
    if (!matcher->memory)
        return MCPX_ENOMEM;
    matcher->compiling = pcre2_compile_context_create(matcher->memory);
    return matcher->compiling ? MCPX_OK : MCPX_ENOMEM;
}

static enum mcpx_err make_room(struct mx_matcher *matcher, struct mcpx_capset *set)
{
    matcher->data = pcre2_match_data_create(1, matcher->memory);
    matcher->context = pcre2_match_context_create(matcher->memory);
    if (!matcher->data || !matcher->context)
        return MCPX_ENOMEM;
    pcre2_set_match_limit(matcher->context, match_limit(set));
    pcre2_set_callout(matcher->context, on_conditional, set);
    return MCPX_OK;
}

enum mcpx_err mx_matcher_new(struct mcpx_capset *set, struct mx_matcher **out)
{
    struct mx_matcher *matcher = calloc(1, sizeof *matcher);
    enum mcpx_err err;

    if (!matcher)
        return MCPX_ENOMEM;
    for (size_t i = 0; i < set->grant_count; i++)
        matcher->rule6 |= set->patterns[i].context_stars;
    for (size_t i = 0; i < set->grant_count + set->deny_count; i++)
        matcher->walks |= mx_pattern_is_costly(&set->patterns[i]);
    err = prepare(matcher);
    if (!err && !matcher->walks)
        err = build(matcher, set, false);
    if (!err && !matcher->walks && matcher->rule6)
        err = build(matcher, set, true);
    if (!err)
        err = make_room(matcher, set);
    if (err) {
        mx_matcher_free(matcher);
        return err;
    }
    if (set->grant_count + set->deny_count >= MEMO_PATTERNS_MIN)
        set->memo = mx_memo_owner();
    pcre2_compile_context_free(matcher->compiling);
    matcher->compiling = NULL;
    *out = matcher;
    return MCPX_OK;
}

void mx_matcher_free(struct mx_matcher *matcher)
{
    if (!matcher)
        return;
    list_fini(&matcher->plain);
    list_fini(&matcher->dotted);
    pcre2_compile_context_free(matcher->compiling);
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    pcre2_general_context_free(matcher->memory);
    free(matcher);
}

static bool walk(struct mcpx_capset *set)
{
    return !mx_capset_denied_by(set, set->question->kind).text &&
           mx_capset_granted_by(set, set->question).text;
}

/* Matches. Returns PCRE2's code of the last match; `refuses` is that program's. */
static int match(struct mcpx_capset *set, const struct mcpx_kind *kind, bool *refuses)
{
    const struct mx_matcher *matcher = set->matcher;
    const struct program_list *list = &matcher->plain;
    int rc = PCRE2_ERROR_NOMATCH;

    if (matcher->walks)
        return walk(set) ? 1 : PCRE2_ERROR_NOMATCH;
    if (matcher->rule6 && mcpx_kind_has_dot_segment(kind))
        list = &matcher->dotted;
    for (size_t i = 0; i < list->count && rc == PCRE2_ERROR_NOMATCH; i++) {
        rc = pcre2_jit_match(list->programs[i].code, (PCRE2_SPTR)kind->text.text,
                             kind->text.len, 0, 0, matcher->data, matcher->context);
        *refuses = list->programs[i].refuses;
    }
    return rc;
}

/* A verdict is remembered if the next question about the kind cannot have another one. */
bool mcpx_capset_allows(struct mcpx_capset *set, const struct mcpx_question *question)
{
    const struct mcpx_kind *kind = question->kind;
    struct mx_memo_slot *slot = set->memo ? mx_memo_slot(set->memo, kind->text) : NULL;
    bool allowed = false, refuses = false;
    int rc;

    if (slot && mx_memo_holds(slot, set->memo, kind->text))
        return slot->verdict;
    if (mcpx_kind_is_reserved(kind)) /* rule 8 */
        return false;
    set->question = question;
    set->depends = false;
    rc = match(set, kind, &refuses);
    allowed = rc > 0 && !refuses;
    if (slot && !set->depends && (rc > 0 || rc == PCRE2_ERROR_NOMATCH))
        mx_memo_keep(slot, set->memo, kind->text, allowed);
    return allowed;
}

/* ---- why ---- */

/* What a decision lends. Not in the set: there are thousands of sets, and one reader at a time. */
static _Thread_local char would_allow[MCPX_KIND_MAX];
static _Thread_local char alternative[MCPX_KIND_MAX];

const char *mcpx_refusal_wire(enum mcpx_refusal refusal)
{
    static const char *const wire[] = {
        "allowed",       "no_matching_grant",  "denied",
        "grant_expired", "target_not_allowed", "reserved_namespace"};

    return (size_t)refusal < sizeof wire / sizeof *wire ? wire[refusal] : "";
}

/*
 * The first grant that would allow a refused kind but for its target, else but for its expiry.
 * Those without conditions, or whose conditions hold, cannot be the reason and cost no walk.
 */
static void find_missed(const struct mcpx_capset *set, const struct mcpx_question *question,
                        struct mcpx_decision *out)
{
    bool dotted = mcpx_kind_has_dot_segment(question->kind);

    out->refusal = MCPX_NO_MATCHING_GRANT;
    for (size_t i = 0; i < set->grant_count && out->refusal != MCPX_TARGET_NOT_ALLOWED; i++) {
        enum mcpx_refusal refusal = mx_grant_condition(&set->grants[i], question);

        if (refusal == MCPX_ALLOWED || refusal == out->refusal ||
            !mx_pattern_covers(&set->patterns[i], question->kind, dotted))
            continue;
        out->refusal = refusal;
        out->grant = mx_capset_pattern(set, i);
    }
}

static struct mcpx_slice find_nearest(const struct mcpx_capset *set,
                                      const struct mcpx_kind *kind)
{
    struct mcpx_slice nearest = {NULL, 0};
    size_t longest = 0;

    for (size_t i = 0; i < set->grant_count; i++) {
        size_t agreement = mx_pattern_agreement(&set->patterns[i], kind);

        if (!nearest.text || agreement > longest) {
            nearest = mx_capset_pattern(set, i);
            longest = agreement;
        }
    }
    return nearest;
}

/*
 * The kind itself. A "*" in it is a star in the pattern, which covers it too; but not where the
 * context is dotted (rule 6), there only all contexts of the method will do.
 */
static struct mcpx_slice write_would_allow(const struct mcpx_kind *kind)
{
    struct mcpx_slice text = kind->text;

    memcpy(would_allow, text.text, text.len);
    if (kind->context.len > 0 && memchr(kind->context.text, '*', kind->context.len) &&
        mcpx_kind_has_dot_segment(kind)) {
        text.len -= kind->context.len;
        would_allow[text.len++] = '*';
    }
    return (struct mcpx_slice){would_allow, text.len};
}

static struct mcpx_slice write_alternative(struct mcpx_capset *set,
                                           const struct mcpx_question *question)
{
    static const struct mcpx_slice absent = {NULL, 0};
    const struct mcpx_slice request = MCPX_SLICE("mcp/request");
    const struct mcpx_slice proposal = MCPX_SLICE("mcp/proposal");
    const struct mcpx_kind *kind = question->kind;
    struct mcpx_question instead = *question;
    struct mcpx_kind other;
    size_t rest = kind->text.len - kind->type.len;

    if (!mcpx_slice_equal(kind->type, request) || proposal.len + rest > MCPX_KIND_MAX)
        return absent;
    memcpy(alternative, proposal.text, proposal.len);
    memcpy(alternative + proposal.len, kind->type.text + kind->type.len, rest);
    if (mcpx_kind_parse((struct mcpx_slice){alternative, proposal.len + rest}, &other, NULL))
        return absent;
    instead.kind = &other;
    return mcpx_capset_allows(set, &instead) ? other.text : absent;
}

void mcpx_capset_explain(struct mcpx_capset *set, const struct mcpx_question *question,
                         struct mcpx_decision *out)
{
    *out = (struct mcpx_decision){.nearest = find_nearest(set, question->kind)};
    if (mcpx_capset_allows(set, question)) {
        out->grant = mx_capset_granted_by(set, question);
        return;
    }
    if (mcpx_kind_is_reserved(question->kind)) {
        out->refusal = MCPX_RESERVED_NAMESPACE;
        return;
    }
    out->grant = mx_capset_denied_by(set, question->kind);
    if (out->grant.text)
        out->refusal = MCPX_DENIED; /* and no grant helps against that */
    else
        find_missed(set, question, out);
    if (out->refusal != MCPX_DENIED)
        out->would_allow = write_would_allow(question->kind);
    out->alternative = write_alternative(set, question);
}
