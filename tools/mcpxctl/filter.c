/*
 * filter.c - uses the matcher of grants to select envelopes. A second pattern language was
 * refused: a pattern that a person learns here can be used in a configuration too.
 */
#include "tools/mcpxctl/filter.h"

/* Grants never cover the router's kinds, so these are matched with another type in front. */
static const char stand_in[] = "x-";

enum mcpx_err filter_new(const char *pattern, const char *from, struct mcpx_fault *fault,
                         struct filter *out)
{
    struct filter filter = {.from = mcpx_slice_of(from)};
    struct mcpx_grant grants[2] = {{.pattern = mcpx_slice_of(pattern)}};
    char reserved[sizeof stand_in + MCPX_KIND_MAX];
    size_t count = 1;
    enum mcpx_err err;

    if (!pattern) {
        *out = filter;
        return MCPX_OK;
    }
    if (pattern[0] != '*' && grants[0].pattern.len < MCPX_KIND_MAX - sizeof stand_in) {
        memcpy(reserved, stand_in, sizeof stand_in - 1);
        memcpy(reserved + sizeof stand_in - 1, pattern, grants[0].pattern.len);
        grants[count++].pattern =
            (struct mcpx_slice){reserved, sizeof stand_in - 1 + grants[0].pattern.len};
    }
    err = mcpx_capset_new(grants, count, NULL, 0, NULL, fault, &filter.kinds);
    if (!err)
        *out = filter;
    return err;
}

int filter_read(const struct arguments *arguments, struct filter *out)
{
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_err err = filter_new(arguments_value(arguments, "--kind"),
                                   arguments_value(arguments, "--from"), &fault, out);

    if (err == MCPX_EPATTERN)
        return fail_with(STATUS_USAGE, arguments->command->name,
                         "--kind wants a pattern: %s, byte %zu: %s", fault.field, fault.offset,
                         fault.reason);
    return err ? fail_with(STATUS_FAILED, arguments->command->name, "%s", mcpx_strerror(err))
               : STATUS_OK;
}

void filter_fini(struct filter *filter)
{
    mcpx_capset_unref(filter->kinds);
    filter->kinds = NULL;
}

static bool covers(struct mcpx_capset *kinds, const struct mcpx_kind *kind)
{
    struct mcpx_question question = {.kind = kind};
    char text[sizeof stand_in + MCPX_KIND_MAX];
    struct mcpx_kind renamed;

    if (!mcpx_kind_is_reserved(kind))
        return mcpx_capset_allows(kinds, &question);
    memcpy(text, stand_in, sizeof stand_in - 1);
    memcpy(text + sizeof stand_in - 1, kind->text.text, kind->text.len);
    question.kind = &renamed;
    return mcpx_kind_parse((struct mcpx_slice){text, sizeof stand_in - 1 + kind->text.len},
                           &renamed, NULL) == MCPX_OK &&
           mcpx_capset_allows(kinds, &question);
}

bool filter_passes_from(const struct filter *filter, struct mcpx_slice from)
{
    return !filter->from.text || mcpx_slice_equal(filter->from, from) ||
           mcpx_slice_equal(filter->from, mcpx_identity_of(from));
}

bool filter_passes(const struct filter *filter, const struct mcpx_kind *kind,
                   struct mcpx_slice from)
{
    return filter_passes_from(filter, from) && (!filter->kinds || covers(filter->kinds, kind));
}
