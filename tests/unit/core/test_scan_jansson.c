/*
 * What breaks for whom: the edges read with jansson what the hub let in with mx_scan; where the
 * two disagree, an accepted message breaks later. Protocol: section 1.
 *
 * 200,000 texts, half of them damaged. jansson also refuses what no RFC forbids, see
 * jansson_judge.h; on those texts the two are not compared.
 */
#include "lib/json/scan.h"

#include "tests/support/jansson_judge.h"
#include "tests/support/random_json.h"

#include <criterion/criterion.h>

static const uint64_t seed = UINT64_C(0x6d63707820763031);

Test(scan_jansson, accept_and_refuse_the_same_texts)
{
    uint64_t state = seed;
    size_t accepted = 0, refused = 0, other = 0;

    for (int i = 0; i < 200000; i++) {
        char text[1024];
        size_t len = random_json(&state, text, sizeof text);
        struct mx_scan scan;
        struct mcpx_fault fault = {"", "", 0};
        enum judgement judgement;
        enum mcpx_err err;

        if (i % 2)
            len = random_damage(&state, text, len, sizeof text);
        err = mx_scan((struct mcpx_slice){text, len}, 0, &scan, &fault);
        judgement = jansson_judge((struct mcpx_slice){text, len});
        accepted += judgement == JUDGE_ACCEPTS;
        refused += judgement == JUDGE_REFUSES;
        other += judgement == JUDGE_OTHER;
        if (i % 2 == 0)
            cr_assert_eq(err, MCPX_OK, "text %d: %s at %zu: %.*s", i, fault.reason,
                         fault.offset, (int)len, text);
        if (judgement != JUDGE_OTHER)
            cr_assert_eq(err == MCPX_OK, judgement == JUDGE_ACCEPTS, "text %d: %s: %.*s", i,
                         fault.reason, (int)len, text);
    }
    cr_expect_gt(accepted, 100000, "%zu accepted", accepted);
    cr_expect_gt(refused, 50000, "%zu refused", refused);
    cr_expect_lt(other, 10000, "%zu not compared", other);
}

Test(scan_jansson, find_the_same_members_at_the_top)
{
    uint64_t state = seed + 1;

    for (int i = 0; i < 20000; i++) {
        char text[1024];
        size_t len = random_json(&state, text, sizeof text);
        struct mx_scan scan;
        struct mcpx_fault fault = {"", "", 0};
        json_t *object = json_loadb(text, len, 0, NULL);

        cr_assert_eq(mx_scan((struct mcpx_slice){text, len}, 0, &scan, &fault), MCPX_OK);
        for (size_t m = 0; object && m < scan.count; m++) {
            const struct mx_member *member = &scan.members[m];
            char name[256];
            size_t name_len;
            json_t *value;

            cr_assert(mx_unescape(member->name, name, &name_len));
            name[name_len] = '\0';
            cr_expect_not_null(json_object_get(object, name), "%s in %.*s", name, (int)len,
                               text);
            cr_expect(mx_member_is(member, name));
            value = json_loadb(member->value.text, member->value.len, JSON_DECODE_ANY, NULL);
            cr_expect_not_null(value, "'%.*s' is no value", (int)member->value.len,
                               member->value.text);
            json_decref(value);
        }
        if (json_is_object(object)) {
            cr_expect_eq(mx_scan_duplicate(&scan) == NULL,
                         json_object_size(object) == scan.count, "%.*s", (int)len, text);
        }
        json_decref(object);
    }
}
