/*
 * form.c - names of what results may look like, and of levels of service. Rows are the macros of
 * the public header.
 */
#include <mcpx/wrap.h>

#define NAME_ROW(constant, name) [constant] = (name),
static const char *const forms[MCPX_FORM_COUNT] = {MCPX_FORMS(NAME_ROW)};
static const char *const tiers[MCPX_TIER_COUNT] = {MCPX_TIERS(NAME_ROW)};

const char *mcpx_form_name(enum mcpx_form form)
{
    return (unsigned)form < MCPX_FORM_COUNT ? forms[form] : NULL;
}

bool mcpx_form_find(struct mcpx_slice name, enum mcpx_form *out)
{
    for (int form = 0; form < MCPX_FORM_COUNT; form++) {
        if (!mcpx_slice_equal(name, mcpx_slice_of(forms[form])))
            continue;
        *out = (enum mcpx_form)form;
        return true;
    }
    return false;
}

const char *mcpx_tier_name(enum mcpx_tier tier)
{
    return (unsigned)tier < MCPX_TIER_COUNT ? tiers[tier] : NULL;
}

bool mcpx_tier_find(struct mcpx_slice name, enum mcpx_tier *out)
{
    for (int tier = 0; tier < MCPX_TIER_COUNT; tier++) {
        if (!mcpx_slice_equal(name, mcpx_slice_of(tiers[tier])))
            continue;
        *out = (enum mcpx_tier)tier;
        return true;
    }
    return false;
}
