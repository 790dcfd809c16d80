/*
 * changes_room.c - how many changes there may be, of one participant in one topic and of all.
 * Nobody has more than they leave for others: one who takes all there is has half of it, the next
 * half of the rest, and there is always room for whoever has little. Fixed shares were refused:
 * four quarters fill everything. All are counted anew for each order: that happens once for each
 * request of an administrator, and there are few enough of them.
 */
#include "lib/core/format.h"
#include "router/policy/changes_inside.h"

/* Number, bytes of memory, bytes of patterns. */
enum { MEASURES = 3 };

/* What there is of a sort, and what of it is theirs who asks. */
struct load {
    enum change_sort sort;
    struct mcpx_slice by;
    size_t all[MEASURES], own[MEASURES];
};

static void weigh(struct load *load, const struct changed *changed)
{
    for (size_t i = 0; changed && i < changed->count; i++) {
        const struct change *change = changed->list[i];
        const size_t weights[MEASURES] = {1, change->size, change->grant.pattern.len};
        bool own = mcpx_slice_equal(change->by, load->by);

        for (int j = 0; change->sort == load->sort && j < MEASURES; j++) {
            load->all[j] += weights[j];
            load->own[j] += own ? weights[j] : 0;
        }
    }
}

static bool is_more(const struct load *load, const struct load *before)
{
    bool more = false;

    for (int i = 0; !more && i < MEASURES; i++)
        more = load->all[i] > before->all[i] || load->own[i] > before->own[i];
    return more;
}

/* `draft`: whose list was weighed; NULL = all of them. */
static enum mcpx_err check(const struct load *load, const size_t most[MEASURES],
                           const struct changed *draft, struct mcpx_text *why)
{
    static const char *const names[] = {"grants", "removals", "bars"};
    static const char *const units[] = {"", " bytes of", " bytes of patterns of"};
    static const char *const ends[] = {
        "a grant counts until admin.grant_max_s after its end",
        "a removal ends in time, or when its maker or admin/* adds just the pattern",
        "a bar ends in time, or when its maker or admin/* asks with for=0"};
    int i = 0;

    while (i < MEASURES && load->all[i] + load->own[i] <= most[i])
        i++;
    if (i == MEASURES)
        return MCPX_OK;
    if (why && draft)
        mx_format(why, "for '%s' in '%s' ", draft->identity, draft->topic);
    if (why)
        mx_format(why,
                  "%s%s %s may be kept: others have %s, you would have %s, and nobody may "
                  "have more than they leave for others; %s",
                  most[i], units[i], names[load->sort], load->all[i] - load->own[i],
                  load->own[i], ends[load->sort]);
    return MCPX_ESHARE;
}

static enum mcpx_err check_sort(const struct changes *changes, const struct changed *draft,
                                enum change_sort sort, struct mcpx_slice by,
                                struct mcpx_text *why)
{
    static const size_t most_each[] = {CHANGES_EACH, CHANGES_BYTES_MAX, CHANGES_EACH_TEXT},
                        most_all[] = {CHANGES_MAX, CHANGES_BYTES_MAX, CHANGES_BYTES_MAX};
    const struct changed *before = changes_find(changes, draft->identity, draft->topic);
    struct load had = {.sort = sort, .by = by}, has = had;
    enum mcpx_err err;

    weigh(&had, before);
    weigh(&has, draft);
    if (!is_more(&has, &had))
        return MCPX_OK;
    err = check(&has, most_each, draft, why);
    for (size_t i = 0; !err && i < changes->count; i++)
        if (changes->all[i] != before)
            weigh(&has, changes->all[i]);
    return err ? err : check(&has, most_all, NULL, why);
}

enum mcpx_err changed_check_room(const struct changes *changes, const struct changed *draft,
                                 struct mcpx_slice by, struct mcpx_text *why)
{
    enum mcpx_err err = MCPX_OK;

    for (int sort = 0; !err && sort < CHANGE_SORTS; sort++)
        err = check_sort(changes, draft, (enum change_sort)sort, by, why);
    return err;
}
