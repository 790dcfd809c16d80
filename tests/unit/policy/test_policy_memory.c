/*
 * What breaks for whom: a router that runs short of memory while it reads its settings or a
 * token must say so, not crash, not leak, and above all not let somebody in with half a grant.
 * Protocol: section 7.
 */
#include "tests/support/bearer.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/jwt.h"
#include "tests/support/settled.h"

#include "router/policy/identity/tickets.h"
#include "router/policy/identity/tokens.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECRET "0123456789abcdef0123456789abcdef"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"

#define SETTINGS(grants, more, deny)                                                          \
    "{\"listen\":[\"127.0.0.1:0\"],\"auth\":{\"origins\":[\"a\",\"b\"],"                      \
    "\"jwt\":{\"exp\":\"optional\",\"secret\":\"" SECRET                                      \
    "\",\"issuer\":\"\",\"keys\":[{\"kid\":\"k\","                                            \
    "\"alg\":\"HS512\",\"secret\":\"" SECRET "\"}]}},"                                        \
    "\"profiles\":{\"p\":{\"grants\":[" grants "],\"deny\":[" deny "]}},"                     \
    "\"participants\":{\"b\":{\"token_sha256\":\"" HASH "\",\"topics\":[\"t*\"],"             \
    "\"profile\":\"p\",\"grants\":[" more "]}}}"

static const char plain[] = SETTINGS("", "", "");
static const char text[] = SETTINGS("\"chat\",{\"kind\":\"mcp/*\",\"to\":[\"x\"]}",
                                    "\"mcp/request\"", "\"mcp/request:tool/call\"");

static const struct mcpx_now now = {.mono_ms = 1, .wall_ms = 1800000000000};

/*
 * Grants are compiled faster with memory that they can do without, so a failure need not show
 * where there are grants; it must everywhere else.
 */
static void expect_told(enum mcpx_err err, bool failed, bool has_grants, size_t nth)
{
    bool right = err == (failed ? MCPX_ENOMEM : MCPX_OK) || (has_grants && err == MCPX_OK);

    cr_expect(right, "allocation %zu: %s", nth, mcpx_strerror(err));
}

static void load_short_of_memory(const char *settings, bool has_grants)
{
    static const char *const environment[] = {"MCPX_AUTH_ORIGINS=x,y", "MCPX_LOG_LEVEL=warn",
                                              NULL};
    char path[] = "/tmp/mcpx-memory-XXXXXX";
    int fd = mkstemp(path);
    ssize_t len = (ssize_t)strlen(settings);
    struct config_sources sources = {
        .file = path, .environment = environment, .chance = settled_chance()};

    cr_assert(fd >= 0 && write(fd, settings, (size_t)len) == len);
    close(fd);
    FAULT_ALLOC_EACH(nth, 50) {
        struct config config = {0};
        struct mcpx_text errors = {0};
        enum mcpx_err err = config_load(&sources, &errors, &config);

        expect_told(err, fault_alloc_disarm(), has_grants, nth);
        cr_expect_eq(config.tokens == NULL, err != MCPX_OK);
        config_fini(&config);
        mcpx_text_fini(&errors);
    }
    unlink(path);
}

Test(policy_memory, shortage_while_settings_are_read_is_told)
{
    load_short_of_memory(plain, false);
    load_short_of_memory(text, true);
}

static void verify_short_of_memory(const char *claims, bool has_grants)
{
    struct settled s = settled_load(text, NULL, false);
    char *token = jwt_make("{\"alg\":\"HS256\"}", claims, "SHA256", SECRET);

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    FAULT_ALLOC_EACH(nth, 1) {
        struct grant *grant = NULL;
        enum mcpx_err err =
            tokens_verify(s.config.tokens, mcpx_slice_of(token), MCPX_SLICE("t"), now, &grant);

        expect_told(err, fault_alloc_disarm(), has_grants, nth);
        cr_expect_eq(grant == NULL, err != MCPX_OK);
        grant_unref(grant);
    }
    free(token);
    settled_fini(&s);
}

Test(policy_memory, shortage_lets_nobody_in)
{
    verify_short_of_memory("{\"sub\":\"a\",\"topic\":\"t\",\"capabilities\":[]}", false);
    verify_short_of_memory("{\"sub\":\"a\",\"topic\":\"t\",\"profile\":\"p\"}", false);
    verify_short_of_memory("{\"sub\":\"a\",\"topic\":\"t\",\"capabilities\":[\"chat\","
                           "{\"kind\":\"b\",\"to\":[\"c\"]}]}",
                           true);
}

Test(policy_memory, shortage_makes_no_half_token)
{
    struct settled s = settled_load(text, NULL, false);

    FAULT_ALLOC_EACH(nth, 1) {
        struct mcpx_text token = {0};
        struct mcpx_fault fault;
        enum mcpx_err err = tokens_issue(s.config.tokens, MCPX_SLICE("a"), MCPX_SLICE("t"),
                                         (struct mcpx_slice){0}, now, &fault, &token);

        expect_told(err, fault_alloc_disarm(), true, nth);
        cr_expect_eq(token.len == 0, err != MCPX_OK);
        mcpx_text_fini(&token);
    }
    settled_fini(&s);
}

Test(policy_memory, shortage_makes_no_half_ticket)
{
    struct mcpx_capset *set = NULL;
    struct grant *grant;

    cr_assert_eq(mcpx_capset_new(NULL, 0, NULL, 0, NULL, NULL, &set), MCPX_OK);
    grant = grant_new(MCPX_SLICE("a"), set, ROUTING_DEFAULT, 0);
    FAULT_ALLOC_EACH(nth, 1) {
        struct mcpx_text ticket = {0};
        struct tickets *tickets = tickets_new(settled_chance(), 0);
        enum mcpx_err err = MCPX_ENOMEM;

        if (tickets)
            err = tickets_issue(tickets, grant, MCPX_SLICE("t"), now, &ticket);
        expect_told(err, fault_alloc_disarm(), false, nth);
        cr_expect_eq(grant->refs, err ? 1 : 2);
        tickets_free(tickets);
        mcpx_text_fini(&ticket);
    }
    grant_unref(grant);
    mcpx_capset_unref(set);
}
