/*
 * What breaks for whom: an operator whose grant never matches because of one letter, or whose
 * copy of the example lets nobody in, looks for the fault everywhere else; and who is warned of
 * what is right stops reading warnings.
 */
#include "router/policy/config/config.h"
#include "tests/support/settled.h"

#include <criterion/criterion.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define OTHER_HASH "1123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define ZEROS "00000000000000000000000000000000000000000000000000000000000000"
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852B855"
#define ENTRY(hash, members) "{\"token_sha256\":\"" hash "\",\"topics\":[\"t\"]" members "}"
#define PEOPLE(members) "\"participants\":{\"a\":" ENTRY(HASH, members) "}"
#define GRANTS(list) "{" PEOPLE(",\"grants\":[" list "]") "}"
#define KEY "\"auth\":{\"jwt\":{\"secret\":\"0123456789abcdef0123456789abcdef\"}},"

#define EXAMPLE                                                                               \
    "is the placeholder of an example, and no token has this hash; \"mcpxctl token\" prints " \
    "a token and its hash\n"
#define EXPIRED(date)                                                                         \
    "FILE: /participants/a: grant \"chat\": expired at " date                                 \
    ", so it never matches; expected a later date, or no \"expires\"\n"
#define NOBODY(id)                                                                            \
    "FILE: /participants/a: grant \"chat\": \"to\" names \"" id                               \
    "\", and nobody can have this id: no participant has it, and there is no key for "        \
    "tokens; expected ids of participants\n"
#define TYPO(what, where, pattern, meant)                                                     \
    "FILE: " where ": " what " \"" pattern                                                    \
    "\": covers no known kind; if that is a typing error, \"" meant "\" is meant\n"

/* All warnings of a configuration; none where the text is empty. It is November 2026. */
Test(config_warn, tells_what_can_never_work_and_nothing_else)
{
    static const struct {
        const char *text, *warnings;
    } rows[] = {
        {GRANTS("\"chat\",\"acme/x:y\",\"mcp/request:acme/do\""), ""},
        {GRANTS("\"mcp/reqest:tools/*\""),
         TYPO("grant", "/participants/a", "mcp/reqest:tools/*", "mcp/request:tools/*")},
        {GRANTS("{\"kind\":\"chta\"}"), TYPO("grant", "/participants/a", "chta", "chat")},
        {"{" PEOPLE(",\"deny\":[\"mcp/request:tools/cal:rm\"]") "}",
         TYPO("denial", "/participants/a", "mcp/request:tools/cal:rm",
              "mcp/request:tools/call:rm")},
        {"{\"profiles\":{\"p\":{\"grants\":[\"Chat\"]}}," PEOPLE(",\"profile\":\"p\"") "}",
         TYPO("grant", "/profiles/p", "Chat", "chat")},

        {GRANTS("{\"kind\":\"chat\",\"expires\":\"2026-11-21T23:59:59Z\"}"),
         EXPIRED("2026-11-21T23:59:59Z")},
        {GRANTS("{\"kind\":\"chat\",\"expires\":\"2026-11-22T01:00:00+01:00\"}"),
         EXPIRED("2026-11-22T01:00:00+01:00")},
        {GRANTS("{\"kind\":\"chat\",\"expires\":\"2026-11-22T00:00:00.001Z\"}"), ""},

        {GRANTS("{\"kind\":\"chat\",\"to\":[\"a\"]}"), ""},
        {GRANTS("{\"kind\":\"chat\",\"to\":[\"b\",\"a\",\"c\"]}"), NOBODY("b") NOBODY("c")},
        {"{" KEY PEOPLE(
             ",\"jwt\":\"refused\",\"grants\":[{\"kind\":\"chat\",\"to\":[\"b\"]}]") "}",
         ""},

        {"{\"participants\":{\"a\":" ENTRY(ZEROS "00", "") "}}",
         "FILE: /participants/a/token_sha256: " EXAMPLE},
        {"{\"participants\":{\"a/b\":" ENTRY(ZEROS "1f", "") "}}",
         "FILE: /participants/a~1b/token_sha256: " EXAMPLE},
        {"{\"participants\":{\"a\":" ENTRY(NOTHING, "") "}}",
         "FILE: /participants/a/token_sha256: is the hash of nothing, and no token is empty; "
         "\"mcpxctl token --sha256\" reads a token and prints its hash\n"},
        {"{\"participants\":{\"a\":" ENTRY(HASH, "") ",\"b\":" ENTRY(OTHER_HASH, "") "}}", ""},

        {"{\"topics\":{\"create\":false}," PEOPLE("") "}",
         "FILE: /topics/create: is false, and a topic comes to be only when its first "
         "participant joins, so nobody can enter any; expected true\n"},
        {"{\"topics\":{\"create\":true}," PEOPLE("") "}", ""},

        {"{\"store\":{\"file\":\"f\"}," PEOPLE("") "}",
         "FILE: /store/file: is not used while store.kind is \"memory\"; expected \"sqlite\" "
         "there\n"},
        {"{\"store\":{\"kind\":\"sqlite\",\"file\":\"f\"}," PEOPLE("") "}", ""},
        {"{\"audit\":{\"key_file\":\"k\"}," PEOPLE("") "}",
         "FILE: /audit/key_file: is not used: nothing is audited without audit.folder\n"},
        {"{\"audit\":{\"folder\":\"a\",\"key_file\":\"k\"}," PEOPLE("") "}", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settled s = settled_load(rows[i].text, NULL, false);

        cr_assert_eq(s.err, MCPX_OK, "%s: %s", rows[i].text, s.errors.text);
        cr_expect_str_eq(settled_warnings(&s), rows[i].warnings, "%s warns: %s", rows[i].text,
                         settled_warnings(&s));
        settled_fini(&s);
    }
}

/* A grant for somebody who is never in the same topic is good for nothing. */
Test(config_warn, tells_of_addressees_in_other_topics)
{
    static const struct {
        const char *mine, *theirs;
        bool meet;
    } rows[] = {
        {"\"x\"", "\"x\"", true},
        {"\"x\"", "\"y\"", false},
        {"\"x\"", "\"xx\"", false},
        {"\"xx\"", "\"x\"", false},
        {"\"*\"", "\"*\"", true},
        {"\"*\"", "\"x\"", true},
        {"\"room-*\"", "\"rooms-*\"", false},
        {"\"room-*\"", "\"room-1\"", true},
        {"\"room-1\"", "\"room-*\"", true},
        {"\"room-*\"", "\"room-\"", true},
        {"\"room-*\"", "\"room\"", false},
        {"\"a*\"", "\"*b\"", true},
        {"\"a*c\"", "\"*b\"", false},
        {"\"a*b*c\"", "\"*x*bc\"", true},
        {"\"ab*\"", "\"*a\"", true},
        {"\"*ab\"", "\"a*\"", true},
        {"\"**\"", "\"x**y\"", true},
        {"\"ab*cd\"", "\"ab*ce\"", false},
        {"\"x\",\"room-*\"", "\"y\",\"*-7\"", true},
        {"\"x\",\"room-*\"", "\"y\",\"lobby*\"", false},
        {"\"x\"", "", true}, /* has no topics at all, which is another warning */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_text text = {0};
        struct settled s;

        mcpx_text_puts(&text, "{\"participants\":{\"a\":{\"token_sha256\":\"" HASH
                              "\",\"grants\":[{\"kind\":\"chat\",\"to\":[\"b\"]}],"
                              "\"topics\":[");
        mcpx_text_puts(&text, rows[i].mine);
        mcpx_text_puts(&text, "]},\"b\":{\"token_sha256\":\"" OTHER_HASH "\",\"topics\":[");
        mcpx_text_puts(&text, rows[i].theirs);
        mcpx_text_puts(&text, "]}}}");
        s = settled_load(text.text, NULL, false);
        cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
        cr_expect_eq(
            strstr(settled_warnings(&s),
                   "FILE: /participants/a: grant \"chat\": \"to\" names \"b\", and "
                   "the two may enter no topic together; expected topics in common\n") == NULL,
            rows[i].meet, "%s and %s: %s", rows[i].mine, rows[i].theirs, settled_warnings(&s));
        settled_fini(&s);
        mcpx_text_fini(&text);
    }
}

/* In development mode whoever asks gets a token, under any id. */
Test(config_warn, takes_any_addressee_where_anybody_is_let_in)
{
    static const char text[] = GRANTS("{\"kind\":\"chat\",\"to\":[\"b\"]}");

    for (int dev = 0; dev < 2; dev++) {
        struct settled s = settled_load(text, NULL, dev);

        cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
        cr_expect_str_eq(settled_warnings(&s), dev ? "" : NOBODY("b"));
        settled_fini(&s);
    }
}

/* NULL: right as it is, or so far from all that is known that it may be somebody's own. */
Test(kind_typo, is_what_lies_near_a_known_kind)
{
    static const struct {
        const char *pattern, *meant;
    } rows[] = {
        {"*", NULL},
        {"mcp/*", NULL},
        {"*/request:*", NULL},
        {"mcp/r*:tools/c*", NULL},
        {"mcp/request:*/list", NULL},
        {"mcp/request:tools/call:anyThing_*", NULL},
        {"mcp/response:notifications/tasks/status", NULL},
        {"mcp/withdraw", NULL},
        {"chat/acknowledge", NULL},
        {"admin/*", NULL},
        {"reasoning/*", NULL},
        {"reasoning/thought", NULL},

        {"acme/*", NULL},
        {"acp/*", NULL},
        {"cat", NULL},
        {"hat*", NULL},
        {"chap", NULL},
        {"that/is/ours", NULL},
        {"mcp/notification:x", NULL},
        {"mcp/request:docs/list", NULL},
        {"mcp/request:pong", NULL},
        {"mcp/request/x", NULL},
        {"mcprequest:*", NULL},
        {"chat:tools/cal", NULL},
        {"acme/tool:tools/cal", NULL},
        {"mcp/request:tools/call:reed_file", NULL},

        {"mpc/*", "mcp/*"},
        {"MCP/*", "mcp/*"},
        {"mcpx/*", "mcp/*"},
        {"mcp/requst:*", "mcp/request:*"},
        {"mcp/requests:ping", "mcp/request:ping"},
        {"mcp/repsonse:tools/*", "mcp/response:tools/*"},
        {"mcp/propsoal:*", "mcp/proposal:*"},
        {"mcp/reqest:tols/call:rm", "mcp/request:tools/call:rm"},
        {"chats", "chat"},
        {"caht", "chat"},
        {"CHAT", "chat"},
        {"chat/aknowlege", "chat/acknowledge"},
        {"resoning/*", "reasoning/*"},
        {"amdin/*", "admin/*"},
        {"mcp/request:*/lsit", "mcp/request:*/list"},
        {"mcp/request:tool/call", "mcp/request:tools/call"},
        {"mcp/request:tools/cal:a:b*", "mcp/request:tools/call:a:b*"},
        {"mcp/request:notification/*", "mcp/request:notifications/*"},
        {"mcp/request:logging/setlevel", "mcp/request:logging/setLevel"},
        {"mcp/r*:initialise", "mcp/r*:initialize"},
        {"mcp/request:resources/*/lst", "mcp/request:resources/*/list"},
        {"mcp/request:resource/*/lst", "mcp/request:resources/*/list"},
        {"mcp/request:tool/scall", "mcp/request:tools/call"},
        {"*:tools/calls", "*:tools/call"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *meant = rows[i].meant ? rows[i].meant : rows[i].pattern;
        struct mcpx_text out = {0};

        mcpx_text_puts(&out, "before ");
        cr_expect_eq(kind_typo_mend(mcpx_slice_of(rows[i].pattern), &out),
                     rows[i].meant != NULL, "%s", rows[i].pattern);
        cr_expect_str_eq(out.text + strlen("before "), meant, "%s", rows[i].pattern);
        mcpx_text_fini(&out);
    }
}

/* The longest component that is looked at, and one byte more. */
Test(kind_typo, is_not_looked_for_in_long_components)
{
    for (size_t len = 64; len <= 65; len++) {
        struct mcpx_text pattern = {0}, out = {0};

        for (size_t i = strlen("mcpx/*"); i < len; i++)
            mcpx_text_puts(&pattern, "*");
        mcpx_text_puts(&pattern, "mcpx/*");
        cr_expect_eq(kind_typo_mend(mcpx_text_view(&pattern), &out), len == 64, "%zu: %s", len,
                     out.text);
        mcpx_text_fini(&pattern);
        mcpx_text_fini(&out);
    }
}
