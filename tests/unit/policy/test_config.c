/*
 * What breaks for whom: an operator whose typing error is taken for a default, who mends one
 * fault per start, or who finds a secret in the log. docs/configuration.md is what is promised.
 */
#include "lib/base/scoped.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/settled.h"

#include "router/policy/config/settings.h"
#include "router/policy/identity/tokens.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER_HASH "1123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"

Test(config, has_defaults_that_need_no_file)
{
    struct settled s = settled_load(NULL, NULL, false);
    const struct config *config = &s.config;

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    cr_expect_eq(config->listen_count, 2);
    cr_expect_str_eq(config->listen[0].host, "127.0.0.1");
    cr_expect_str_eq(config->listen[1].host, "::1");
    cr_expect_str_eq(config->listen[1].port, "8080");
    cr_expect_eq(config->origins.count, 3);
    cr_expect_not(config->query_token);
    cr_expect(config->hub.takeover);
    cr_expect(config->hub.create);
    cr_expect(config->hub.derive_kinds);
    cr_expect_not(config->hub.directed);
    cr_expect_eq(config->hub.linger_ms, 300000);
    cr_expect_eq(config->hub.message_bytes, 8388608);
    cr_expect_eq(config->drain_ms, 5000);
    cr_expect_eq(config->grant_max_ms, 28800000);
    cr_expect_eq(config->log_level, LOG_INFO);
    cr_expect_eq(config->log_format, LOG_TEXT);
    cr_expect_eq(config->store.kind, STORE_KIND_MEMORY);
    cr_expect_str_eq(config->audit.folder, "");
    cr_expect_not(config->hub.needs_commit || config->hub.stored || config->hub.audited);
    cr_expect_not_null(strstr(settled_warnings(&s), "nobody can come in"));
    settled_fini(&s);
}

/* The row's value is in struct config as it was written: it is neither text nor a list. */
static bool is_plain(const struct setting *row)
{
    _Static_assert(offsetof(struct settings, config) == 0,
                   "offsets of rows are those in config");
    return row->size > 0 && row->offset < sizeof(struct config);
}

static bool is_same(const struct setting *row, const struct config *a, const struct config *b)
{
    const char *of_a = (const char *)a, *of_b = (const char *)b;

    return memcmp(of_a + row->offset, of_b + row->offset, row->size) == 0;
}

Test(config, has_the_defaults_of_the_hub)
{
    struct settled s = settled_load(NULL, NULL, false);
    struct config config = {.hub = hub_config_default()};

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    config.hub.log_bytes = s.config.hub.log_bytes; /* depends on the machine */
    for (const struct setting *row = settings_table; row->pointer; row++)
        if (is_plain(row) && row->offset >= offsetof(struct config, hub) &&
            row->offset < offsetof(struct config, hub) + sizeof config.hub)
            cr_expect(is_same(row, &config, &s.config),
                      "%s: tests/support/hub_defaults.h reads another default", row->pointer);
    settled_fini(&s);
}

/* Not the default, and another number or text for each row. */
static json_t *other_value(const struct setting *row)
{
    int nth = (int)(row - settings_table);

    if (row->type == SETTING_BOOL)
        return json_boolean(*row->fallback == 'f');
    if (row->type == SETTING_INTEGER)
        return json_integer(row->max - nth);
    if (row->type == SETTING_CHOICE)
        return json_string(row->choices[strstr(row->fallback, row->choices[0]) ? 1 : 0]);
    return row->type == SETTING_STRINGS ? json_pack("[s]", "https://a")
                                        : json_sprintf("/%d", nth);
}

static bool holds(const struct setting *row, const struct config *config)
{
    json_auto_t *value = other_value(row);
    const void *at = (const char *)config + row->offset;
    const struct names *names = at;
    int64_t number;

    if (row->type == SETTING_STRINGS)
        return names->count == 1 && strcmp(names->text[0], "https://a") == 0;
    if (row->type == SETTING_STRING)
        return strcmp(*(char *const *)at, json_string_value(value)) == 0;
    number = row->size == sizeof number ? *(const int64_t *)at
             : row->size == sizeof(int) ? *(const int *)at
                                        : *(const bool *)at;
    if (row->type == SETTING_CHOICE)
        return strcmp(row->choices[number], json_string_value(value)) == 0;
    return number == json_integer_value(value) * row->scale + json_is_true(value);
}

Test(config, reads_every_stored_setting)
{
    json_auto_t *file = json_object();
    struct settled s;
    char pointer[64], *slash, *text;

    for (const struct setting *row = settings_table; row->pointer; row++) {
        json_auto_t *tree = is_plain(row) ? other_value(row) : json_object();

        snprintf(pointer, sizeof pointer, "%s", is_plain(row) ? row->pointer : "");
        for (; (slash = strrchr(pointer, '/')); *slash = '\0')
            tree = json_pack("{s:o}", slash + 1, tree);
        cr_assert_eq(json_object_update_recursive(file, tree), 0);
    }
    text = json_dumps(file, 0);
    s = settled_load(text, NULL, false);
    cr_assert_eq(s.err, MCPX_OK, "%s: %s", text, s.errors.text);
    for (const struct setting *row = settings_table; row->pointer; row++)
        cr_expect(!is_plain(row) || holds(row, &s.config), "%s is not stored as written: %s",
                  row->pointer, text);
    cr_expect(s.config.hub.needs_commit && s.config.hub.stored && s.config.hub.audited);
    settled_fini(&s);
    free(text);
}

Test(config, reads_addresses_and_choices)
{
    struct settled s = settled_load(
        "{\"listen\":[\"*:0\",\"localhost:65535\",\"tls://[::1]:1\"],"
        "\"trusted_proxies\":[\"10.0.0.0/8\",\"::1\"],\"proxy_address\":\"forwarded\","
        "\"tls\":{\"certificate_file\":\"/c\",\"key_file\":\"/q\",\"min_version\":\"1.3\"},"
        "\"auth\":{\"duplicate\":\"reject\"},\"topics\":{\"routing\":\"directed\"},"
        "\"store\":{\"kind\":\"sqlite\",\"file\":\"/s/f\",\"durability\":\"normal\"},"
        "\"audit\":{\"folder\":\"/a\",\"key_file\":\"/"
        "k\",\"on_full\":\"drop\",\"rotate_s\":60},"
        "\"limits\":{\"ping_s\":0},\"log\":{\"level\":\"debug\",\"format\":\"json\"}}",
        NULL, false);
    const struct config *config = &s.config;

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    cr_expect_str_eq(config->listen[0].host, "*");
    cr_expect_str_eq(config->listen[1].port, "65535");
    cr_expect_not(config->listen[1].tls);
    cr_expect(config->listen[2].tls && config->tls.wanted && config->tls.only_1_3);
    cr_expect_str_eq(config->listen[2].host, "::1");
    cr_expect_str_eq(config->tls.files[TLS_CERTIFICATE], "/c");
    cr_expect_str_eq(config->tls.files[TLS_KEY], "/q");
    cr_expect_eq(config->proxy_count, 2);
    cr_expect_eq(config->proxies[0].bits, 104);
    cr_expect_eq(config->proxies[0].bytes[12], 10);
    cr_expect_eq(config->proxies[1].bits, 128);
    cr_expect_eq(config->proxy_address, PROXY_FORWARDED);
    cr_expect(config->hub.directed && !config->hub.takeover);
    cr_expect_eq(config->store.kind, STORE_KIND_SQLITE);
    cr_expect(config->store.normal);
    cr_expect_eq(config->hub.ping_ms, 0);
    cr_expect_eq(config->audit.on_full, ON_FULL_DROP);
    cr_expect_eq(config->audit.rotate_ms, 60000);
    cr_expect_eq(config->log_level, LOG_DEBUG);
    cr_expect_eq(config->log_format, LOG_JSON);
    settled_fini(&s);
}

#define PERSON(members) "{\"participants\":{\"a\":{" members "}}}"
#define WHOLE_PERSON(members) PERSON("\"token_sha256\":\"" HASH "\"," members)
#define KEY(members) "{\"auth\":{\"jwt\":{\"keys\":[{" members "}]}}}"

Test(config, reports_all_faults_at_once)
{
    struct settled s = settled_load(
        "{\"limits\":{\"depth\":\"x\",\"drain_s\":0},\"log\":{\"colour\":1},\"listen\":[\"\"],"
        "\"profiles\":{\"p\":{\"grants\":[\":\",\"a b\"]}},"
        "\"participants\":{\"a\":{\"profile\":\"q\"}}}",
        (const char *const[]){"MCPX_LIMITS_PING_S=x", "MCPX_LIMITS_NOTHING=1", NULL}, false);
    size_t lines = 0;

    for (const char *at = s.errors.text; *at; at++)
        lines += *at == '\n';
    cr_expect_eq(s.err, MCPX_ECONFIG);
    cr_expect_eq(lines, 10, "%s", s.errors.text);
    settled_fini(&s);
}

Test(config, lets_later_sources_win)
{
    static const char *const environment[] = {"MCPX_TOPICS_HISTORY_COUNT=7",
                                              "MCPX_LOG_LEVEL=warn",
                                              "MCPX_DERIVE_KINDS=false",
                                              "MCPX_LIMITS_DEPTH=",
                                              "MCPX_TOKEN=x",
                                              "PATH=/bin",
                                              "MCPX_AUTH_ORIGINS=a, b ,,c",
                                              "MCPX_LISTEN=h:1",
                                              "MCPX_AUTH_DUPLICATE=reject",
                                              "MCPX_LIMITS_CONNECTS_PER_S=0",
                                              NULL};
    static const char *const listen[] = {"127.0.0.1:0"};
    struct settled s = settled_load_from(
        "{\"topics\":{\"history\":{\"count\":5}},\"limits\":{\"depth\":9}}",
        (struct config_sources){
            .environment = environment, .listen = listen, .listen_count = 1});

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    cr_expect_eq(s.config.hub.history_count, 7);
    cr_expect_eq(s.config.hub.depth, 9, "an empty variable is not set");
    cr_expect_eq(s.config.log_level, LOG_WARN);
    cr_expect_not(s.config.hub.derive_kinds);
    cr_expect_not(s.config.hub.takeover);
    cr_expect_eq(s.config.connects_per_s, 0);
    cr_assert_eq(s.config.origins.count, 3);
    cr_expect_str_eq(s.config.origins.text[1], "b");
    cr_assert_eq(s.config.listen_count, 1);
    cr_expect_str_eq(s.config.listen[0].port, "0");
    settled_fini(&s);
}

/* "/tmp/x.json" may stand beside its database; a variable knows of no file. */
Test(config, takes_paths_of_the_file_from_where_the_file_is)
{
    static const char *const environment[] = {"MCPX_AUDIT_FOLDER=a/b", NULL};
    struct settled s =
        settled_load("{\"store\":{\"kind\":\"sqlite\",\"file\":\"d/router.db\"},"
                     "\"audit\":{\"folder\":\"x\",\"key_file\":\"/k\"}}",
                     environment, false);

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    cr_expect_str_eq(s.config.store.file, "/tmp/d/router.db");
    cr_expect_str_eq(s.config.audit.folder, "a/b");
    cr_expect_str_eq(s.config.audit.key_file, "/k");
    settled_fini(&s);
}

Test(config, names_the_variable_or_flag_at_fault)
{
    static const struct {
        const char *variable, *line;
    } rows[] = {
        {"MCPX_LIMITS_DEPTH=12x", "MCPX_LIMITS_DEPTH: found \"12x\" (string), expected an "
                                  "integer 1..65536 (0 = no limit)\n"},
        {"MCPX_LIMITS_DEPTH=99999999999999999999",
         "MCPX_LIMITS_DEPTH: found \"99999999999999999999\" (string), expected an integer "
         "1..65536 (0 = no limit)\n"},
        {"MCPX_TOPICS_CREATE=1",
         "MCPX_TOPICS_CREATE: found \"1\" (string), expected true or false\n"},
        {"MCPX_LIMITS_DEPHT=1", "MCPX_LIMITS_DEPHT: no setting has this name\n"},
        {"MCPX_ADMIN_GRANT_MAX=1", "MCPX_ADMIN_GRANT_MAX: no setting has this name\n"},
        {"MCPX_STORE_PORT=8080", "MCPX_STORE_PORT: no setting has this name\n"},
        {"MCPX_AUTH_JWT_SECRET=hunter2",
         "MCPX_AUTH_JWT_SECRET: found a secret of 7 bytes, expected 16..4096\n"},
        {"MCPX_LOG_LEVEL=\xff", "MCPX_LOG_LEVEL: found bytes that are not UTF-8\n"},
        {"MCPX_STORE_KIND=sqlite",
         "configuration: /store/file: is empty, expected the path of a file, because "
         "store.kind is \"sqlite\"\n"},
        {"MCPX_LISTEN=x", "MCPX_LISTEN: found \"x\" (string), expected HOST:PORT, such as "
                          "\"127.0.0.1:8080\", \"[::1]:8080\" or \"*:80\"\n"},
    };
    static const char *const listen[] = {"::1:80"};
    struct settled s;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s = settled_load(NULL, (const char *const[]){rows[i].variable, NULL}, false);
        cr_expect_eq(s.err, MCPX_ECONFIG, "%s", rows[i].variable);
        cr_expect_str_eq(s.errors.text, rows[i].line);
        settled_fini(&s);
    }
    s = settled_load_from(NULL, (struct config_sources){.listen = listen, .listen_count = 1});
    cr_expect_str_eq(s.errors.text,
                     "--listen: found \"::1:80\" (string), expected HOST:PORT, such as "
                     "\"127.0.0.1:8080\", \"[::1]:8080\" or \"*:80\"\n");
    settled_fini(&s);
}

/* Of services "mcpx-store" and "mcpx-log-a". */
Test(config, takes_no_variable_of_kubernetes_for_a_setting)
{
    static const char *const environment[] = {"MCPX_STORE_SERVICE_HOST=10.0.0.1",
                                              "MCPX_STORE_SERVICE_PORT_HTTP=8080",
                                              "MCPX_STORE_PORT=tcp://10.0.0.1:8080",
                                              "MCPX_STORE_PORT_8080_TCP_PROTO=tcp",
                                              "MCPX_LOG_A_PORT_514_UDP=udp://[fd00::1]:514",
                                              "MCPX_LOG_A_PORT_514_SCTP_ADDR=fd00::1",
                                              NULL};
    struct settled s = settled_load("{}", environment, false);

    cr_expect_eq(s.err, MCPX_OK, "%s", s.errors.text);
    settled_fini(&s);
}

Test(config, says_what_is_wrong_with_addresses_of_the_command_line)
{
    const char *many[17];
    static const char *const foreign[] = {"\xff:80"};
    struct settled s;

    for (size_t i = 0; i < 17; i++)
        many[i] = "127.0.0.1:0";
    s = settled_load_from(NULL, (struct config_sources){.listen = many, .listen_count = 17});
    cr_expect_str_eq(s.errors.text, "--listen: expected at most 16 of them\n");
    settled_fini(&s);
    s = settled_load_from(NULL, (struct config_sources){.listen = foreign, .listen_count = 1});
    cr_expect_eq(s.err, MCPX_ECONFIG);
    cr_expect_null(strchr(s.errors.text, '\xff'));
    settled_fini(&s);
}

Test(config, bounds_the_patterns_of_profile_and_participant_together)
{
    mx_scoped_text text = {0};
    struct settled s;

    mcpx_text_puts(&text, "{\"profiles\":{\"p\":{\"grants\":[\"chat\"");
    for (int i = 1; i < 1024; i++)
        mcpx_text_puts(&text, ",\"chat\"");
    mcpx_text_puts(&text, "]}},\"participants\":{\"a\":{\"token_sha256\":\"" HASH "\","
                          "\"topics\":[\"t\"],\"profile\":\"p\",\"grants\":[\"mcp/*\"]}}}");
    s = settled_load(text.text, NULL, false);
    cr_expect_eq(s.err, MCPX_ECONFIG);
    cr_expect_str_eq(s.errors.text, "FILE: /participants/a: expected at most 1024 patterns of "
                                    "65536 bytes, profile included\n");
    settled_fini(&s);
}

Test(config, keeps_dev_mode_on_loopback)
{
    static const struct {
        const char *listen;
        bool allowed;
    } rows[] = {
        {"127.0.0.1:1", true}, {"127.9.9.9:1", true},  {"[::1]:1", true},
        {"localhost:1", true}, {"0.0.0.0:1", false},   {"[::]:1", false},
        {"*:1", false},        {"128.0.0.1:1", false}, {"example.org:1", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settled s = settled_load_from(
            NULL, (struct config_sources){
                      .dev = true, .listen = &rows[i].listen, .listen_count = 1});

        cr_expect_eq(s.err == MCPX_OK, rows[i].allowed, "%s: %s", rows[i].listen,
                     s.errors.text);
        settled_fini(&s);
    }
}

Test(config, gives_more_instances_where_anybody_is_let_in)
{
    static const struct {
        const char *text;
        bool dev;
        unsigned instances;
    } rows[] = {
        {"{}", false, 8},
        {"{}", true, 64},
        {"{\"auth\":{\"instances\":3}}", true, 3},
        {"{\"auth\":{\"instances\":8}}", true, 8},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settled s = settled_load(rows[i].text, NULL, rows[i].dev);

        cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
        cr_expect_eq(s.config.hub.instances, rows[i].instances, "%s", rows[i].text);
        settled_fini(&s);
    }
}

Test(config, warns_of_what_is_surely_not_meant)
{
    static const struct {
        const char *text, *warning;
    } rows[] = {
        {"{}", "FILE: there are neither participants nor keys"},
        {"{\"profiles\":{\"p\":{\"grants\":[\"chat\"]}}}",
         "FILE: /profiles/p: nobody uses this profile"},
        {WHOLE_PERSON("\"grants\":[\"chat\"]"), "FILE: /participants/a: has no topics"},
        {WHOLE_PERSON("\"topics\":[\"t\"],\"grants\":[\"mcp/request\"]"),
         "FILE: /participants/a: grant \"mcp/request\": "},
        {WHOLE_PERSON("\"topics\":[\"t\"],\"grants\":[{\"kind\":\"System/*\"}]"),
         "FILE: /participants/a: grant \"System/*\": only the router"},
        {WHOLE_PERSON("\"topics\":[\"t\"],\"grants\":[\"chat\"],\"deny\":[\"chat\"]"),
         "FILE: /participants/a: grant \"chat\": the same pattern is denied"},
        {KEY("\"alg\":\"HS512\",\"secret\":\"0123456789abcdef0123456789abcdef\""),
         "FILE: /auth/jwt/keys/0: a secret for HS512 should have at least 64 bytes"},
        {"{\"participants\":{\"a\":{\"token_sha256\":\"" HASH "\",\"grants\":[\"mcp/*\"]},"
         "\"b\":{\"token_sha256\":\"" OTHER_HASH "\",\"grants\":[\"mcp/response:*\"]}}}",
         "FILE: /topics/routing: is \"all\", and several"},
        {"{\"limits\":{\"message_bytes\":0}}", "FILE: /limits/message_bytes: without a limit"},
        {"{\"limits\":{\"backlog_bytes\":65536}}", "FILE: /limits/backlog_bytes: is less"},
        {"{\"topics\":{\"history\":{\"bytes\":65536}}}",
         "FILE: /topics/history/bytes: is less"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settled s = settled_load(rows[i].text, NULL, false);

        cr_expect_eq(s.err, MCPX_OK, "%s: %s", rows[i].text, s.errors.text);
        cr_expect(!s.err && strstr(settled_warnings(&s), rows[i].warning), "%s warns: %s",
                  rows[i].text, s.err ? "" : settled_warnings(&s));
        settled_fini(&s);
    }
}

Test(config, has_nothing_to_say_about_a_good_file)
{
    struct settled s = settled_load(
        "{\"profiles\":{\"p\":{\"grants\":[\"mcp/request:*\"],\"routing\":\"directed\"}},"
        "\"participants\":{\"a\":{\"token_sha256\":\"" HASH "\",\"topics\":[\"room-*\"],"
        "\"profile\":\"p\",\"grants\":[{\"kind\":\"chat\",\"to\":[\"a\"],"
        "\"expires\":\"2030-01-01T00:00:00Z\"}],\"deny\":[\"mcp/request:tools/call:rm\"]}}}",
        NULL, false);
    const struct tokens_entry *entry;

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    cr_expect_str_eq(settled_warnings(&s), "");
    entry = tokens_find_id(s.config.tokens, MCPX_SLICE("a"));
    cr_assert_not_null(entry);
    cr_expect_str_eq(entry->grant->capabilities.text, "[\"mcp/request:*\",\"chat\"]");
    cr_expect_eq(entry->grant->routing, ROUTING_DIRECTED);
    cr_expect_null(tokens_find_id(s.config.tokens, MCPX_SLICE("b")));
    settled_fini(&s);
}

/* With a pipe in its place a start waited for ever. */
Test(config, says_why_a_file_cannot_be_read, .timeout = 30)
{
    static const char *const why[] = {"No such file or directory",
                                      "it is a folder; expected a regular file",
                                      "it is a pipe; expected a regular file"};
    char pipe[64];
    const char *const paths[] = {"/nowhere/router.json", "/", pipe};

    snprintf(pipe, sizeof pipe, "/tmp/mcpx-config-pipe-%d", (int)getpid());
    cr_assert_eq(mkfifo(pipe, 0600), 0);
    for (size_t i = 0; i < 3; i++) {
        struct config_sources sources = {.file = paths[i]};
        struct mcpx_text errors = {0};
        struct config config = {0};
        char line[256];

        snprintf(line, sizeof line, "%s: cannot be read: %s\n", paths[i], why[i]);
        cr_expect_eq(config_load(&sources, &errors, &config), MCPX_ECONFIG);
        cr_expect_str_eq(errors.text, line);
        mcpx_text_fini(&errors);
        config_fini(&config);
    }
    unlink(pipe);
}

Test(config, never_shows_a_secret)
{
    static const char *const texts[] = {
        "{\"auth\":{\"jwt\":{\"secret\":\"hunter2hunter2\" \"x\"}}}",
        "{\"auth\":{\"jwt\":{\"secret\":\"hunter2\",}}}",
        "{\"auth\":{\"jwt\":{\"secret\":\"hunter2\",\"secret\":\"hunter2\"}}}",
        "{\"auth\":{\"jwt\":{\"secret\":\"hunter2\"}}}",
        "{\"auth\":{\"jwt\":\"hunter2\"}}",
        "{\"auth\":{\"jwt\":{\"keys\":\"hunter2\"}}}",
        "{\"auth\":{\"jwt\":{\"keys\":[\"hunter2\"]}}}",
        "{\"auth\":{\"jwt\":{\"token\":\"hunter2\"}}}",
        KEY("\"alg\":\"HS256\",\"secret\":\"hunter2\""),
        KEY("\"alg\":\"HS256\",\"secret\":[\"hunter2\"]"),
        KEY("\"alg\":\"HS512\",\"secret\":\"hunter2hunter2hunter2\""),
        PERSON("\"token_sha256\":\"hunter2\""),
        PERSON("\"token_sha256\":[\"hunter2\"]"),
        PERSON("\"token\":\"hunter2\""),
        "{\"participants\":\"hunter2\"}",
        "{\"participants\":{\"a\":\"hunter2\"}}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct settled s = settled_load(texts[i], NULL, false);
        const char *warnings = s.err ? "" : settled_warnings(&s);

        cr_expect_null(strstr(s.errors.text, "hunter2"), "%s: %s", texts[i], s.errors.text);
        cr_expect_null(strstr(warnings, "hunter2"), "%s: %s", texts[i], warnings);
        settled_fini(&s);
    }
}
