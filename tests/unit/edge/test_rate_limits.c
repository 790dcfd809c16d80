/*
 * What breaks for whom: one host that knocks all the time keeps everybody else out; people behind
 * one address keep each other out; whoever owns many addresses is many people, or makes the router
 * forget what others have spent. Protocol: sections 7 and 8.
 */
#include "router/http/rate_limits.h"
#include "tests/support/settled.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>

static struct mcpx_now at(int64_t mono_ms)
{
    return (struct mcpx_now){.mono_ms = mono_ms, .wall_ms = 1};
}

static struct address from(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return address_shared(address_whole((struct sockaddr *)&v4));
    cr_assert_eq(inet_pton(AF_INET6, text, &v6.sin6_addr), 1, "%s", text);
    return address_shared(address_whole((struct sockaddr *)&v6));
}

static int admitted(struct rate_limits *gate, struct address address, int attempts,
                    int64_t mono_ms)
{
    int count = 0;

    for (int i = 0; i < attempts; i++)
        count += rate_limits_admits(gate, address, at(mono_ms));
    return count;
}

Test(gate, who_shares_an_address)
{
    static const struct {
        const char *a, *b;
        bool same, same_network;
    } rows[] = {
        {"192.0.2.1", "192.0.2.1", true, true},
        {"192.0.2.1", "192.0.2.2", false, false},
        {"192.0.2.1", "::ffff:192.0.2.1", true, true},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false, false},
        {"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true, true},
        {"2001:db8:1:2::1", "2001:db8:1:3::1", false, true},
        {"2001:db8:1:2::1", "2001:db8:2:2::1", false, false},
        {"::1", "::2", true, true},
        {"::1", "127.0.0.1", false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct address a = from(rows[i].a), b = from(rows[i].b);
        struct address na = address_network(a), nb = address_network(b);

        cr_expect_eq(memcmp(&a, &b, sizeof a) == 0, rows[i].same, "%s %s", rows[i].a,
                     rows[i].b);
        cr_expect_eq(memcmp(&na, &nb, sizeof na) == 0, rows[i].same_network, "%s %s",
                     rows[i].a, rows[i].b);
    }
}

Test(gate, one_address_spends_its_own_share_and_gets_it_anew_every_second)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 10, 0);

    cr_expect_eq(admitted(gate, from("192.0.2.1"), 50, 1000), 10);
    cr_expect_eq(admitted(gate, from("192.0.2.2"), 5, 1000), 5, "another one's");
    cr_expect_eq(admitted(gate, from("192.0.2.1"), 50, 1100), 1);
    cr_expect_eq(admitted(gate, from("192.0.2.1"), 50, 9000), 10, "no more than a second's");
    rate_limits_free(gate);
}

Test(gate, who_turns_out_to_be_somebody_costs_the_address_nothing)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 10, 600);
    struct address home = from("192.0.2.1");
    char name[16];

    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "p%d", i);
        cr_assert(rate_limits_admits(gate, home, at(1000)), "%d", i);
        cr_assert_eq(rate_limits_knows(gate, home, 0, mcpx_slice_of(name), at(1000)), 0, "%d",
                     i);
    }
    rate_limits_free(gate);
}

/* Else whoever has a token may knock as often as the machine can answer. */
Test(gate, what_a_participant_is_refused_counts_for_its_address)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 10, 60);
    struct address home = from("192.0.2.1");
    int admitted = 0, known = 0;

    for (int i = 0; i < 1000; i++) {
        if (!rate_limits_admits(gate, home, at(1000)))
            continue;
        admitted++;
        known += rate_limits_knows(gate, home, 0, MCPX_SLICE("ann"), at(1000)) == 0;
    }
    cr_expect_eq(known, 10, "%d", known);
    cr_expect_eq(admitted, 20, "%d", admitted);
    rate_limits_free(gate);
}

Test(gate, a_participant_spends_its_own_share_from_wherever_it_comes)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 10, 600);
    struct mcpx_slice ann = MCPX_SLICE("ann"), bob = MCPX_SLICE("bob");
    char text[32];

    for (int i = 0; i < 100; i++) { /* a sixth of 600 at once */
        snprintf(text, sizeof text, "192.0.2.%d", i);
        cr_assert_eq(rate_limits_knows(gate, from(text), 0, ann, at(1000)), 0, "%d", i);
    }
    cr_expect_eq(rate_limits_knows(gate, from("192.0.2.1"), 0, ann, at(1000)), 100);
    cr_expect_eq(rate_limits_knows(gate, from("192.0.2.1"), 0, bob, at(1000)), 0);
    cr_expect_eq(rate_limits_knows(gate, from("192.0.2.1"), 0, ann, at(1100)), 0);
    rate_limits_charge(gate, ann, 10, at(1100));
    cr_expect_eq(rate_limits_knows(gate, from("192.0.2.1"), 0, ann, at(1100)), 1100,
                 "debts count");
    rate_limits_charge(gate, ann, 1000000, at(1100));
    cr_expect_eq(rate_limits_knows(gate, from("192.0.2.1"), 0, ann, at(1100)), 60100,
                 "to a minute");
    rate_limits_free(gate);
}

/* 65,536 networks of 64 bits are what one customer gets. */
Test(gate, many_addresses_of_one_network_have_a_few_shares_together)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 10, 0);
    char text[64];
    int count = 0;

    for (int i = 0; i < 65536; i++) {
        snprintf(text, sizeof text, "2001:db8:1:%x::1", (unsigned)i);
        count += rate_limits_admits(gate, from(text), at(1000));
    }
    cr_expect_eq(count, 10 * RATE_LIMITS_NETWORK_SHARES, "%d", count);
    cr_expect_eq(admitted(gate, from("2001:db8:2::1"), 5, 1000), 5);
    cr_expect_eq(admitted(gate, from("192.0.2.1"), 5, 1000), 5);
    rate_limits_free(gate);
}

/* Who has spent his share has spent it, however many others come after him. */
Test(gate, forgets_nobody_when_many_come)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 10, 0);
    char text[64];

    cr_expect_eq(admitted(gate, from("192.0.2.1"), 10, 1000), 10);
    for (int i = 0; i < 200000; i++) {
        snprintf(text, sizeof text, "2001:%x:%x::1", 0x1000u + (unsigned)i / 65536u,
                 (unsigned)i % 65536u);
        rate_limits_admits(gate, from(text), at(1000));
    }
    cr_expect_eq(admitted(gate, from("192.0.2.1"), 10, 1000), 0);
    rate_limits_free(gate);
}

/* A botnet: beyond the bound on all, those still come in who ask little. */
Test(gate, when_all_together_ask_too_much_the_modest_still_come_in)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 100, 0);
    char text[32];
    int count = 0;

    for (int i = 0; i < 50; i++) {
        snprintf(text, sizeof text, "198.51.100.%d", i);
        count += admitted(gate, from(text), 100, 1000);
    }
    cr_expect_geq(count, 100 * RATE_LIMITS_ALL_SHARES);
    cr_expect_leq(count, 100 * RATE_LIMITS_ALL_SHARES + 50 * 10);
    cr_expect_eq(admitted(gate, from("192.0.2.1"), 3, 1000), 3);
    rate_limits_free(gate);
}

Test(gate, without_limits_everybody_may)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 0, 0);

    cr_expect_eq(admitted(gate, from("192.0.2.1"), 100000, 1000), 100000);
    for (int i = 0; i < 100000; i++)
        cr_assert_eq(
            rate_limits_knows(gate, from("192.0.2.1"), 0, MCPX_SLICE("ann"), at(1000)), 0);
    rate_limits_free(gate);
    cr_expect_eq(rate_limits_knows(NULL, from("192.0.2.1"), 0, MCPX_SLICE("ann"), at(1000)),
                 0);
    rate_limits_free(NULL);
}

/* Who shares an address with one that knocks all the time shows a good token, and is let in. */
Test(gate, over_its_rate_an_address_is_looked_at_so_often)
{
    struct rate_limits *gate = rate_limits_new(settled_chance(), 10, 0);
    struct address home = from("192.0.2.1");
    int looks = 0;

    cr_expect_eq(admitted(gate, home, 100, 1000), 10);
    for (int i = 0; i < 100; i++)
        cr_assert(rate_limits_looks(gate, home, 1, at(1000)) &&
                  rate_limits_knows(gate, home, 1, MCPX_SLICE("ann"), at(1000)) == 0);
    while (rate_limits_looks(gate, home, 1, at(1000)))
        looks++;
    cr_expect_eq(looks, 10 * RATE_LIMITS_LOOK_SHARES, "%d", looks);
    cr_expect_not(rate_limits_admits(gate, home, at(1000)),
                  "a good one gives back no more than it was");
    cr_expect(rate_limits_looks(gate, from("192.0.2.2"), RATE_LIMITS_TLS_LOOK, at(1000)));
    cr_expect_not(rate_limits_looks(gate, home, 1, at(1000)));
    cr_expect(rate_limits_looks(gate, home, 1, at(1100)));
    rate_limits_free(gate);
}
