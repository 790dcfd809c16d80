/*
 * What breaks for whom: tokens signed with the right secret are refused because a newline was
 * taken along, or a secret lies open without anybody being told. docs/configuration.md (tokens).
 */
#include "tests/support/bearer.h"
#include "tests/support/jwt.h"
#include "tests/support/settled.h"

#include "router/policy/identity/tokens.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

/* A file in /tmp, where settled_load puts the configuration too. */
struct secret_file {
    char path[64];
};

static struct secret_file write_secret(const char *content, mode_t mode)
{
    struct secret_file file = {.path = "/tmp/mcpx-secret-XXXXXX"};
    int fd = mkstemp(file.path);
    size_t len = strlen(content);

    cr_assert(fd >= 0 && write(fd, content, len) == (ssize_t)len && fchmod(fd, mode) == 0);
    close(fd);
    return file;
}

static bool lets_in(struct settled *s, const char *secret)
{
    struct mcpx_now now = {.wall_ms = 1800000000000};
    char *token = jwt_make("{\"alg\":\"HS256\"}", "{\"sub\":\"a\",\"exp\":1800000100}",
                           "SHA256", secret);
    struct grant *grant = NULL;
    enum mcpx_err err;

    cr_assert_eq(s->err, MCPX_OK, "%s", s->errors.text);
    err = tokens_verify(s->config.tokens, mcpx_slice_of(token), (struct mcpx_slice){0}, now,
                        &grant);
    grant_unref(grant);
    free(token);
    return err == MCPX_OK;
}

/* `format` has one %s for the name of the file. */
static struct settled load_with(const char *format, const char *name)
{
    char text[512];

    snprintf(text, sizeof text, "%.*s%s%s", (int)(strstr(format, "%s") - format), format, name,
             strstr(format, "%s") + 2);
    return settled_load(text, NULL, false);
}

/* A shell adds a newline, an editor of another system CR or a mark, a mouse copies a blank. */
Test(config_keys, are_read_from_files_less_what_was_not_meant)
{
    static const char listed[] =
        "{\"auth\":{\"jwt\":{\"keys\":[{\"alg\":\"HS256\",\"secret_file\":\"%s\"}]}}}";
    static const char simple[] = "{\"auth\":{\"jwt\":{\"secret_file\":\"%s\"}}}";
    static const struct {
        const char *format, *content;
        bool relative;
        const char *secret, *warning;
    } rows[] = {
        {listed, SECRET, true, SECRET, ""},
        {listed, SECRET "\n", true, SECRET, ""},
        {listed, SECRET "\n", false, SECRET, ""},
        {simple, SECRET "\n", true, SECRET, ""},
        {simple, SECRET, false, SECRET, ""},
        {simple, "\xef\xbb\xbf" SECRET "\n", true, SECRET, ""},
        {simple, SECRET " in words\n", true, SECRET " in words", ""},
        {simple, SECRET "\r\n", true, SECRET, ": 1 bytes behind the secret are left out"},
        {listed, SECRET "\n\n", true, SECRET, ": 1 bytes behind the secret are left out"},
        {listed, SECRET " \t\r\n", true, SECRET, ": 3 bytes behind the secret are left out"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct secret_file file = write_secret(rows[i].content, 0600);
        struct settled s =
            load_with(rows[i].format, file.path + (rows[i].relative ? strlen("/tmp/") : 0));

        cr_expect(lets_in(&s, rows[i].secret), "row %zu", i);
        cr_expect(*rows[i].warning ? strstr(settled_warnings(&s), rows[i].warning) != NULL
                                   : *settled_warnings(&s) == '\0',
                  "row %zu: %s", i, settled_warnings(&s));
        settled_fini(&s);
        unlink(file.path);
    }
}

Test(config_keys, of_a_configuration_with_a_byte_order_mark_are_read)
{
    struct settled s = settled_load(
        "\xef\xbb\xbf{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\"}}}", NULL, false);

    cr_expect(lets_in(&s, SECRET));
    settled_fini(&s);
}

/* A token without an end outlives whoever it was made for. */
Test(config_keys, say_whether_tokens_have_to_end)
{
    static const struct {
        const char *text;
        bool endless;
        const char *warning;
    } rows[] = {
        {"{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\"}}}", false, ""},
        {"{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\",\"exp\":\"required\"}}}", false, ""},
        {"{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\",\"exp\":\"optional\"}}}", true,
         "/auth/jwt/secret: tokens of this key need no"},
        {"{\"auth\":{\"jwt\":{\"exp\":\"optional\",\"keys\":[{\"alg\":\"HS256\",\"secret\":"
         "\"" SECRET "\"}]}}}",
         false, ""},
        {"{\"auth\":{\"jwt\":{\"keys\":[{\"alg\":\"HS256\",\"exp\":\"required\",\"secret\":"
         "\"" SECRET "\"}]}}}",
         false, ""},
        {"{\"auth\":{\"jwt\":{\"keys\":[{\"alg\":\"HS256\",\"exp\":\"optional\",\"secret\":"
         "\"" SECRET "\"}]}}}",
         true, "/auth/jwt/keys/0: tokens of this key need no"},
    };
    struct mcpx_now now = {.wall_ms = 1800000000000};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settled s = settled_load(rows[i].text, NULL, false);
        char *token = jwt_make("{\"alg\":\"HS256\"}", "{\"sub\":\"a\"}", "SHA256", SECRET);
        struct grant *grant = NULL;

        cr_expect(lets_in(&s, SECRET), "%s", rows[i].text);
        cr_expect_eq(tokens_verify(s.config.tokens, mcpx_slice_of(token),
                                   (struct mcpx_slice){0}, now, &grant) == MCPX_OK,
                     rows[i].endless, "%s", rows[i].text);
        cr_expect_not_null(strstr(settled_warnings(&s), rows[i].warning), "%s",
                           settled_warnings(&s));
        cr_expect_eq(strstr(settled_warnings(&s), "need no") != NULL, rows[i].endless);
        grant_unref(grant);
        free(token);
        settled_fini(&s);
    }
}

/* Said once, and not to who has said what is meant. */
Test(config_keys, that_could_name_a_configured_participant_earn_a_warning)
{
    static const char person[] =
        "\"token_sha256\":\"00000000000000000000000000000000000000000000"
        "00000000000000000000\",\"topics\":[\"t\"]";
    static const struct {
        const char *jwt;
        bool has_key, is_dev, warns;
    } rows[] = {
        {"", true, false, true},
        {"", true, true, true},
        {"", false, true, false},
        {"", false, false, false},
        {",\"jwt\":\"refused\"", true, false, false},
        {",\"jwt\":\"accepted\"", true, false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        struct settled s;

        snprintf(text, sizeof text, "{%s\"participants\":{\"a\":{%s%s}}}",
                 rows[i].has_key ? "\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\"}}," : "",
                 person, rows[i].jwt);
        s = settled_load(text, NULL, rows[i].is_dev);
        cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
        cr_expect_eq(strstr(settled_warnings(&s), "/participants: a JWT that names") != NULL,
                     rows[i].warns, "%s: %s", text, settled_warnings(&s));
        settled_fini(&s);
    }
}

Test(config_keys, in_files_everybody_may_read_earn_a_warning)
{
    struct secret_file file = write_secret(SECRET, 0644);
    struct settled s = load_with("{\"auth\":{\"jwt\":{\"secret_file\":\"%s\"}}}", file.path);

    cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
    cr_expect_str_eq(settled_warnings(&s),
                     "FILE: /auth/jwt/secret_file: everybody on this machine may read the "
                     "secret; chmod o-r mends that\n");
    settled_fini(&s);
    unlink(file.path);
}

Test(config_keys, in_a_public_configuration_earn_a_warning)
{
    static const char *const texts[] = {
        "{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\"}}}",
        "{\"auth\":{\"jwt\":{\"keys\":[{\"alg\":\"HS256\",\"secret\":\"" SECRET "\"}]}}}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct secret_file file = write_secret(texts[i], 0644);
        struct config_sources sources = {.file = file.path};
        struct mcpx_text errors = {0};
        struct config config = {0};

        cr_assert_eq(config_load(&sources, &errors, &config), MCPX_OK, "%s", errors.text);
        cr_expect_not_null(strstr(config.warnings.text, "holds a secret and everybody"));
        cr_expect_null(strstr(config.warnings.text, SECRET));
        config_fini(&config);
        mcpx_text_fini(&errors);
        unlink(file.path);
    }
}

Test(config_keys, come_from_the_later_source)
{
    struct secret_file file = write_secret(OTHER, 0600);
    char variable[128];
    const char *environment[] = {variable, NULL};
    struct settled s;

    snprintf(variable, sizeof variable, "MCPX_AUTH_JWT_SECRET_FILE=%s", file.path);
    s = settled_load("{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\"}}}", environment, false);
    cr_expect(lets_in(&s, OTHER));
    cr_expect_not(lets_in(&s, SECRET));
    settled_fini(&s);

    snprintf(variable, sizeof variable, "MCPX_AUTH_JWT_SECRET=" SECRET);
    s = settled_load("{\"auth\":{\"jwt\":{\"secret_file\":\"no-such-file\"}}}", environment,
                     false);
    cr_expect(lets_in(&s, SECRET));
    settled_fini(&s);
    unlink(file.path);
}

Test(config_keys, say_what_is_wrong_with_them)
{
    static const struct {
        const char *content, *line;
    } rows[] = {
        {"short\n",
         "FILE: /auth/jwt/secret_file: found a secret of 5 bytes, expected 16..4096\n"},
        {"", "FILE: /auth/jwt/secret_file: found a secret of 0 bytes, expected 16..4096\n"},
    };
    struct secret_file file;
    struct settled s;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        file = write_secret(rows[i].content, 0600);
        s = load_with("{\"auth\":{\"jwt\":{\"secret_file\":\"%s\"}}}", file.path);
        cr_expect_str_eq(s.errors.text, rows[i].line);
        settled_fini(&s);
        unlink(file.path);
    }
    s = settled_load("{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\",\"secret_file\":\"x\"}}}",
                     NULL, false);
    cr_expect_str_eq(s.errors.text,
                     "FILE: /auth/jwt/secret: found both secret and secret_file, "
                     "expected one of them\n");
    settled_fini(&s);
    s = settled_load("{\"auth\":{\"jwt\":{\"secret_file\":\"/dev/zero\"}}}", NULL, false);
    cr_expect_str_eq(s.errors.text,
                     "FILE: /auth/jwt/secret_file: the file /dev/zero cannot be "
                     "read: it is a device; expected a regular file\n");
    settled_fini(&s);
}

/* Dev mode gives tokens to anybody; a router elsewhere may trust the secrets of the file. */
Test(config_keys, of_the_file_never_sign_in_dev_mode)
{
    struct secret_file file = write_secret(SECRET, 0600);
    char with_file[128];
    const char *const texts[] = {
        "{\"auth\":{\"jwt\":{\"keys\":[{\"alg\":\"HS256\",\"secret\":\"" SECRET "\"}]}}}",
        "{\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\"}}}",
        with_file,
    };

    snprintf(with_file, sizeof with_file, "{\"auth\":{\"jwt\":{\"secret_file\":\"%s\"}}}",
             file.path);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct settled s = settled_load(texts[i], NULL, true);
        struct settled plain = settled_load(texts[i], NULL, false);
        struct mcpx_text token = {0};
        struct mcpx_fault fault;
        struct mcpx_now now = {.wall_ms = 1800000000000};
        struct grant *grant = NULL;

        cr_expect(lets_in(&s, SECRET), "%s: good all the same", texts[i]);
        cr_assert_eq(tokens_issue(s.config.tokens, MCPX_SLICE("a"), MCPX_SLICE("t"),
                                  (struct mcpx_slice){0}, now, &fault, &token),
                     MCPX_OK);
        cr_expect_eq(tokens_verify(plain.config.tokens, mcpx_text_view(&token),
                                   MCPX_SLICE("t"), now, &grant),
                     MCPX_ETOKEN, "%s: dev mode signed with it", texts[i]);
        mcpx_text_fini(&token);
        settled_fini(&s);
        settled_fini(&plain);
    }
    unlink(file.path);
}

/* Who has the key of the audit can sign a chain of his own. */
Test(config_keys, of_the_audit_in_a_file_everybody_may_read_earn_a_warning)
{
    static const mode_t modes[] = {0600, 0640, 0644};

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct secret_file file = write_secret("-", modes[i]);
        struct settled s = load_with("{\"audit\":{\"folder\":\"f\",\"key_file\":\"%s\"},"
                                     "\"auth\":{\"jwt\":{\"secret\":\"" SECRET "\"}}}",
                                     file.path);

        cr_assert_eq(s.err, MCPX_OK, "%s", s.errors.text);
        cr_expect_str_eq(settled_warnings(&s),
                         modes[i] & 04
                             ? "FILE: /audit/key_file: everybody on this machine may "
                               "read the key; chmod o-r mends that\n"
                             : "");
        settled_fini(&s);
        unlink(file.path);
    }
}
