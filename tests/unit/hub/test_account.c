/*
 * What breaks for whom: a flooder that comes back with full buckets, a participant whose instances
 * get the number of another, a router that remembers everybody who ever left. Protocol: sections 7
 * and 8.
 */
#include "router/hub/topic/account.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct mcpx_now start = {1000, 0}, later = {61000, 0};

static void make(struct accounts *accounts)
{
    struct rates fresh = {.messages.per_minute = 10, .refusals.per_minute = 600};

    accounts_init(accounts, (struct mx_map_key){{1, 2}}, &fresh);
}

static struct account *enter(struct accounts *accounts, const char *identity, unsigned number)
{
    struct account *account = accounts_open(accounts, mcpx_slice_of(identity));

    cr_assert_not_null(account);
    account_enter(accounts, account, number);
    return account;
}

static bool is_known(const struct accounts *accounts, const char *identity)
{
    return accounts_find(accounts, mcpx_slice_of(identity)) != NULL;
}

Test(account, belongs_to_the_identity_and_knows_its_numbers)
{
    struct accounts accounts;
    struct account *desk;

    make(&accounts);
    cr_expect_eq(account_free_number(NULL, 8), 1, "nobody is there");
    desk = enter(&accounts, "desk", 1);
    cr_expect_eq(desk, enter(&accounts, "desk", 2));
    cr_expect_neq(desk, enter(&accounts, "desks", 1));
    cr_expect_eq(account_free_number(desk, 2), 0);
    cr_expect_eq(account_free_number(desk, 8), 3);
    account_enter(&accounts, desk, 64);
    account_leave(&accounts, desk, 1, start);
    cr_expect_eq(account_free_number(desk, 1), 1);
    for (unsigned number = 1; number <= 64; number++)
        account_enter(&accounts, desk, number);
    cr_expect_eq(account_free_number(desk, 64), 0);
    cr_expect_eq(account_free_number(desk, 1000), 0);
    accounts_fini(&accounts);
}

Test(account, is_kept_as_long_as_it_is_used_or_owes_something)
{
    struct accounts accounts;
    struct account *desk;

    make(&accounts);
    desk = enter(&accounts, "desk", 1);
    enter(&accounts, "desk", 2);
    cr_expect(bucket_take(&desk->rates.messages, 10, start));
    account_leave(&accounts, desk, 2, start);
    accounts_expire(&accounts, later);
    cr_expect(is_known(&accounts, "desk"), "one is there");
    cr_expect(bucket_take(&desk->rates.messages, 10, later));
    account_leave(&accounts, desk, 1, later);
    accounts_expire(&accounts, later);
    cr_expect_eq(desk, enter(&accounts, "desk", 5), "nobody is there, but it owes");
    cr_expect_not(bucket_take(&desk->rates.messages, 1, later));
    account_leave(&accounts, desk, 5, later);
    accounts_expire(&accounts, (struct mcpx_now){later.mono_ms + 60000, 0});
    cr_expect_not(is_known(&accounts, "desk"));
    account_leave(&accounts, enter(&accounts, "rich", 1), 1, later);
    cr_expect_not(is_known(&accounts, "rich"), "it never owed anything");
    cr_expect_eq(accounts.idle_count, 0);
    cr_expect_eq(accounts.map.count, 0);
    accounts_fini(&accounts);
}

Test(account, the_oldest_is_forgotten_when_too_many_left)
{
    struct accounts accounts;
    struct account *stays;
    char name[32];

    make(&accounts);
    stays = enter(&accounts, "stays", 1);
    for (int i = 0; i <= ACCOUNTS_IDLE_MAX + 1; i++) {
        struct account *account;

        snprintf(name, sizeof name, "guest %d", i);
        account = enter(&accounts, name, 1);
        cr_expect(bucket_take(&account->rates.messages, 10, start));
        account_leave(&accounts, account, 1, start);
    }
    cr_expect_not(is_known(&accounts, "guest 0"));
    cr_expect_not(is_known(&accounts, "guest 1"));
    cr_expect(is_known(&accounts, "guest 2"));
    cr_expect(is_known(&accounts, name));
    cr_expect_eq(accounts_find(&accounts, MCPX_SLICE("stays")), stays);
    cr_expect_eq(accounts.idle_count, ACCOUNTS_IDLE_MAX);
    accounts_fini(&accounts);
}

Test(account, is_made_whole_or_not_at_all)
{
    for (size_t n = 1; n <= 2; n++) {
        struct accounts accounts;

        make(&accounts);
        fault_alloc_arm(n);
        cr_expect_null(accounts_open(&accounts, MCPX_SLICE("desk")));
        cr_expect(fault_alloc_disarm());
        cr_expect_not(is_known(&accounts, "desk"));
        cr_expect_not_null(accounts_open(&accounts, MCPX_SLICE("desk")));
        accounts_fini(&accounts);
    }
}
