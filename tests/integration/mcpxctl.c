/*
 * What breaks for whom: a script that trusts the exit code of `mcpxctl can` lets a wide grant
 * into production; a token shows in a process list or an error message. Runs the real program.
 * Protocol: sections 2, 3 and 6.
 */
#include "tests/support/count.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_MAX = 8192 };

static const char configuration[] =
    "{\"profiles\": {\"reader\": {\"grants\": [\"mcp/request:tools/call:read_*\"]}},\n"
    " \"participants\": {\"fs\": {\n"
    "   \"token_sha256\": "
    "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\",\n"
    "   \"topics\": [\"*\"], \"profile\": \"reader\",\n"
    "   \"grants\": [\"chat\", \"mcp/proposal:*\",\n"
    "     {\"kind\": \"mcp/request:tools/call:write_*\", \"to\": [\"disk\", \"tape\"]},\n"
    "     {\"kind\": \"mcp/request:old\", \"expires\": \"2020-01-01T00:00:00Z\"}],\n"
    "   \"deny\": [\"*/request:tools/call:read_secret\"]},\n"
    "  \"desk\": {\"token_sha256\": "
    "\"1f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\",\n"
    "   \"topics\": [\"lobby\", \"room-*\"], \"grants\": [\"chat\"]},\n"
    "  \"mute\": {\"token_sha256\": "
    "\"2f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\",\n"
    "   \"grants\": [\"chat\"]}}}\n";

/* Made once per test process, removed at its end. */
static char file[] = "/tmp/mcpxctl-test-XXXXXX";

static void write_file(void)
{
    int fd = mkstemp(file);

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, configuration, strlen(configuration)),
                 (ssize_t)strlen(configuration));
    close(fd);
}

static void remove_file(void)
{
    unlink(file);
}

TestSuite(mcpxctl, .init = write_file, .fini = remove_file);

/* Runs "INPUT | mcpxctl WORDS", both outputs together; "@" in the words is the file. */
static int run(const char *words, const char *input, char output[OUTPUT_MAX])
{
    char line[4096], expanded[2048] = "";
    const char *at = strchr(words, '@');

    if (at)
        snprintf(expanded, sizeof expanded, "%.*s%s%s", (int)(at - words), words, file,
                 at + 1);
    snprintf(line, sizeof line, "printf -- '%s' | env -i '%s/bin/mcpxctl' %s 2>&1",
             input ? input : "", getenv("MCPX_BINARY_DIR"), at ? expanded : words);
    return command_run(line, output, OUTPUT_MAX);
}

struct row {
    const char *words;
    int status;
    const char *says; /* all of the output when it ends in a newline, else a part */
};

static void check(const struct row *row)
{
    char output[OUTPUT_MAX];
    int status = run(row->words, NULL, output);
    bool whole = row->says[0] && row->says[strlen(row->says) - 1] == '\n';

    cr_expect_eq(status, row->status, "%s exits with %d", row->words, status);
    cr_expect(whole ? strcmp(output, row->says) == 0 : strstr(output, row->says) != NULL,
              "%s says: %s", row->words, output);
}

Test(mcpxctl, can_decides_like_the_router)
{
    static const struct row rows[] = {
        {"can --config @ --as fs chat", 0,
         "allowed: fs may send chat to everyone\n"
         "  grant        chat\n"},
        {"can --config @ --as fs mcp/request:tools/call:read_x --json", 0,
         "{\"allowed\":true,\"reason\":\"allowed\","
         "\"grant\":\"mcp/request:tools/call:read_*\","
         "\"nearest\":\"mcp/request:tools/call:read_*\"}\n"},
        {"can --config @ --as fs mcp/request:tools/call:rm", 3,
         "refused: fs may not send mcp/request:tools/call:rm to everyone\n"
         "  reason       no grant covers this kind\n"
         "  nearest      mcp/request:tools/call:read_*\n"
         "  would allow  mcp/request:tools/call:rm\n"
         "  alternative  mcp/proposal:tools/call:rm\n"},
        {"can --config=@ --json --as=fs chat:x", 3,
         "{\"allowed\":false,\"reason\":\"no_matching_grant\",\"nearest\":\"chat\","
         "\"would_allow\":\"chat:x\"}\n"},
        {"can --config @ --as fs mcp/request:tools/call:write_x --to disk --to tape", 0,
         "allowed: fs may send mcp/request:tools/call:write_x to disk, tape\n"
         "  grant        mcp/request:tools/call:write_*\n"},
        {"can --config @ --as fs mcp/request:tools/call:write_x --to disk --to web", 3,
         "the grant that covers this kind is for other addressees"},
        {"can --config @ --as fs mcp/request:tools/call:write_x", 3, "for other addressees"},
        {"can --config @ --as fs mcp/request:old", 3, "has expired"},
        {"can --config @ --as fs mcp/request:tools/call:read_secret", 3,
         "  denial       */request:tools/call:read_secret\n  nearest"},
        {"can --config @ --as fs system/error", 3, "only the router may send this type"},
        {"can --config @ --as fs -- -x:y", 3, "would allow  -x:y"},
        /* Who comes with a JWT has no entry, but its token may name a profile. */
        {"can --config @ --profile reader mcp/request:tools/call:read_x", 0,
         "allowed: a participant with the profile reader may send "
         "mcp/request:tools/call:read_x to "
         "everyone\n"
         "  grant        mcp/request:tools/call:read_*\n"},
        {"can --config @ --profile reader chat --json", 3,
         "{\"allowed\":false,\"reason\":\"no_matching_grant\","
         "\"nearest\":\"mcp/request:tools/call:read_*\",\"would_allow\":\"chat\"}\n"},
        {"can --config @ --profile writer chat", 2, "has no profile of that name: writer"},
        {"can --config @ --as nobody chat", 2, "has no participant of that name: nobody"},
        {"can --config @ chat", 2, "--as ID or --profile NAME is required"},
        {"can --live --profile reader chat", 2, "give one of them"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check(&rows[i]);
}

/* What may be sent is of no use to who may not enter. */
Test(mcpxctl, can_decides_about_the_topic_too)
{
    static const struct row rows[] = {
        {"can --config @ --as desk --topic room-7 chat", 0,
         "allowed: desk may send chat to everyone in room-7\n"
         "  topic        room-*\n"
         "  grant        chat\n"},
        {"can --config @ --as desk --topic work chat", 3,
         "refused: desk may not send chat to everyone in work\n"
         "  reason       the participant's topics do not include this topic\n"
         "  grant        chat\n"},
        {"can --config @ --as desk --topic room-7 chat:x", 3,
         "refused: desk may not send chat:x to everyone in room-7\n"
         "  reason       no grant covers this kind\n"
         "  topic        room-*\n"
         "  nearest      chat\n"
         "  would allow  chat:x\n"},
        {"can --config @ --as desk --topic work chat:x --to fs", 3,
         "refused: desk may not send chat:x to fs in work\n"
         "  reason       the participant's topics do not include this topic\n"
         "  reason       no grant covers this kind\n"
         "  nearest      chat\n"
         "  would allow  chat:x\n"},
        {"can --config @ --as desk chat", 0,
         "allowed: desk may send chat to everyone\n"
         "  grant        chat\n"},
        {"can --config @ --as mute chat", 3,
         "refused: mute may not send chat to everyone\n"
         "  reason       the participant has no topics\n"
         "  grant        chat\n"},
        {"can --config @ --as desk --topic lobby chat --json", 0,
         "{\"allowed\":true,\"reason\":\"allowed\",\"grant\":\"chat\",\"nearest\":\"chat\","
         "\"topic\":\"lobby\",\"topic_reason\":\"allowed\",\"topic_pattern\":\"lobby\"}\n"},
        {"can --config @ --as desk --topic work chat --json", 3,
         "{\"allowed\":false,\"reason\":\"forbidden\",\"grant\":\"chat\",\"nearest\":\"chat\","
         "\"topic\":\"work\",\"topic_reason\":\"forbidden\"}\n"},
        {"can --config @ --as desk --topic work chat:x --json", 3,
         "{\"allowed\":false,\"reason\":\"no_matching_grant\",\"nearest\":\"chat\","
         "\"would_allow\":\"chat:x\",\"topic\":\"work\",\"topic_reason\":\"forbidden\"}\n"},
        {"can --config @ --as mute chat --json", 3,
         "{\"allowed\":false,\"reason\":\"forbidden\",\"grant\":\"chat\",\"nearest\":\"chat\","
         "\"topic_reason\":\"forbidden\"}\n"},
        {"can --config @ --as desk --topic \"\" chat", 2,
         "--topic needs 1 to 256 bytes of UTF-8 without control characters"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check(&rows[i]);
}

/* Where no topic comes to be, the router lets nobody in, whatever an entry says. */
Test(mcpxctl, can_knows_that_there_may_be_no_topics)
{
    static const char closed[] =
        "{\"topics\": {\"create\": false}, \"participants\": {\"desk\": {\"token_sha256\": "
        "\"1f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\", "
        "\"topics\": [\"*\"], \"grants\": [\"chat\"]}}}";
    char output[OUTPUT_MAX];

    cr_expect_eq(run("can --config /dev/stdin --as desk --topic work chat", closed, output),
                 3);
    cr_expect_str_eq(output,
                     "refused: desk may not send chat to everyone in work\n"
                     "  reason       topics.create is false, so the topic cannot be created\n"
                     "  topic        *\n"
                     "  grant        chat\n");
    cr_expect_eq(run("can --config /dev/stdin --as desk chat --json", closed, output), 3);
    cr_expect_str_eq(output, "{\"allowed\":false,\"reason\":\"no_such_topic\","
                             "\"grant\":\"chat\",\"nearest\":\"chat\","
                             "\"topic_reason\":\"no_such_topic\",\"topic_pattern\":\"*\"}\n");
}

Test(mcpxctl, says_what_is_wrong_with_its_input)
{
    static const struct row rows[] = {
        {"", 2, "usage: mcpxctl VERB"},
        {"fly", 2, "there is no verb 'fly'; mcpxctl --help lists them"},
        {"'fl\033y'", 2, "there is no verb 'fl\\u001by'"},
        {"secret-token-in-the-wrong-place", 2, "mcpxctl: there is no such verb"},
        {"can", 2, "takes 1 operand, not 0"},
        {"can chat", 2, "--config FILE (or --live, or --url URL) is required"},
        {"can --config @ --as fs a::b", 2,
         "not a valid kind: method, byte 2: must not be empty"},
        {"can --config @ --as fs chat chat", 2, "takes 1 operand, not 2"},
        {"can --config @ --as fs --to", 2, "--to needs a value"},
        {"can --config @ --as fs chat --to ''", 2, "--to needs a participant id"},
        {"can --config /nonexistent/file --as fs chat", 2, "/nonexistent/file"},
        {"can --config /dev/null --as fs chat", 2, "configuration is not valid"},
        {"can --colour chat", 2, "mcpxctl can: there is no option --colour; --help lists"},
        {"can --tpic=x chat", 2, "there is no option --tpic (did you mean --topic?);"},
        {"can -topic=x chat", 2, "there is no such option (did you mean --topic?);"},
        {"wathc", 2, "there is no verb 'wathc' (did you mean watch?); mcpxctl --help"},
        {"--verson", 2, "there is no verb '--verson' (did you mean --version?);"},
        {"--topic work who", 2, "mcpxctl who: a token is needed"},
        {"--topic=work who", 2, "mcpxctl who: a token is needed"},
        {"--json --topic work", 2, "mcpxctl: a verb is missing; mcpxctl --help"},
        {"--topic", 2, "mcpxctl: a verb is missing; mcpxctl --help"},
        {"--tpic work who", 2,
         "mcpxctl who: there is no option --tpic (did you mean --topic?);"},
        {"--Secret-Token who", 2, "mcpxctl who: there is no such option"},
        {"help wathc", 2, "there is no verb 'wathc' (did you mean watch?)"},
        {"help who who", 2, "takes 0 to 1 operands, not 2"},
        {"can --config @ --as fs 'a:b:\xff'", 2, "kind, byte 4: expected UTF-8"},
        {"kind 'a:b:x\xc3'", 2, "kind, byte 5: expected UTF-8"},
        {"grant ann chat --until yesterday", 2, "how long from now, like 3600, 90m, 1h or 2d"},
        {"kind", 2, "takes 1 operand, not 0"},
        {"kind --json=yes chat", 2, "--json takes no value"},
        {"kind mcp/request:", 2,
         "mcpxctl kind: not a valid kind: method, byte 12: must not be empty\n"},
        {"kind mcp/request: --json", 2,
         "{\"valid\":false,\"reason\":\"must not be empty\",\"field\":\"method\","
         "\"offset\":12}\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check(&rows[i]);
}

Test(mcpxctl, kind_shows_how_the_router_reads_it)
{
    static const struct row rows[] = {
        {"kind chat", 0, "type     chat\n"},
        {"kind mcp/request:tools/call:a:b", 0,
         "type     mcp/request\nmethod   tools/call\ncontext  a:b\n"},
        {"kind a:b:../x", 0, "the context has a dot segment"},
        {"kind System/error", 0, "only the router may send this type"},
        {"kind --json chat", 0,
         "{\"valid\":true,\"type\":\"chat\",\"reserved\":false,\"dot_segment\":false}\n"},
        {"kind --json presence:a:x/..", 0,
         "{\"valid\":true,\"type\":\"presence\",\"method\":\"a\",\"context\":\"x/..\","
         "\"reserved\":true,\"dot_segment\":true}\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check(&rows[i]);
}

Test(mcpxctl, helps_and_names_its_version)
{
    static const struct row rows[] = {
        {"--help", 0, "may a participant send a kind, and why?"},
        {"-h", 0, "usage: mcpxctl VERB"},
        {"--version", 0, "mcpxctl "},
        {"can --help", 0, "usage: mcpxctl can [--config FILE]"},
        {"kind -h", 0, "usage: mcpxctl kind [--json] KIND"},
        {"token --sha256 --help", 0, "usage: mcpxctl token"},
        {"digest --help", 0, "usage: mcpxctl digest [--json] [FILE]"},
        {"help", 0, "usage: mcpxctl VERB"},
        {"help", 0, "[operand]...\n\nmost used\n  call "},
        {"help can", 0, "usage: mcpxctl can [--config FILE]"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check(&rows[i]);
}

Test(mcpxctl, token_prints_a_new_token_and_its_hash)
{
    char first[OUTPUT_MAX], second[OUTPUT_MAX], token[64], hash[80], hashed[OUTPUT_MAX];

    cr_assert_eq(run("token", NULL, first), 0);
    cr_assert_eq(run("token", NULL, second), 0);
    cr_expect_str_neq(first, second);
    cr_assert_eq(sscanf(first, "token %63s token_sha256 %79s", token, hash), 2, "%s", first);
    cr_expect_eq(strlen(token), 43);
    cr_expect_eq(
        strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), 43);
    cr_assert_eq(run("token --sha256", token, hashed), 0);
    cr_expect_eq(strlen(hash), 64);
    cr_expect(strncmp(hashed, hash, 64) == 0 && strcmp(hashed + 64, "\n") == 0, "%s", hashed);
    cr_assert_eq(run("token --json", NULL, first), 0);
    cr_expect_eq(sscanf(first, "{\"token\":\"%43[^\"]\",\"token_sha256\":\"%64[0-9a-f]\"}",
                        token, hash),
                 2, "%s", first);
}

Test(mcpxctl, token_hashes_what_it_reads_and_repeats_nothing)
{
    static const char test_hash[] =
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n";
    static const struct {
        const char *words, *input;
        int status;
        const char *says;
    } rows[] = {
        {"token --sha256", "test", 0, test_hash},
        {"token --sha256", "test\\n", 0, test_hash},
        {"token --sha256", "test\\r\\n", 0, test_hash},
        {"token --sha256", "", 2, "expected one token"},
        {"token --sha256", "\\n", 2, "expected one token"},
        {"token --sha256", "secret secret", 2, "expected one token"},
        {"token --sha256", "secret\\nsecret\\n", 2, "expected one token"},
        {"token --sha256", "secret\\303\\251", 2, "expected one token"},
        {"token secret", "", 2, "takes 0 operands, not 1"},
        {"token --sha256 secret", "", 2, "takes 0 operands, not 1"},
        {"token --sha256=secret", "", 2, "--sha256 takes no value"},
        {"token -secret", "", 2, "there is no such option"},
        {"token --jsno=secret", "", 2, "there is no option --jsno (did you mean --json?)"},
    };
    char output[OUTPUT_MAX];

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect_eq(run(rows[i].words, rows[i].input, output), rows[i].status, "%s < %s",
                     rows[i].words, rows[i].input);
        cr_expect_not_null(strstr(output, rows[i].says), "%s says: %s", rows[i].words, output);
        cr_expect_null(strstr(output, "secret"), "%s repeats: %s", rows[i].words, output);
    }
}

Test(mcpxctl, R000_21_R000_23_digest_of_what_it_reads)
{
    static const char vector[] =
        "54fb66ce0aa908012dc9c432d77d16df95a3d5033a557d1c14cfc6d82a63ae34\n";
    static const struct {
        const char *words, *input;
        int status;
        const char *says;
    } rows[] = {
        {"digest", "{\"key\":\"value\",\"number\":42,\"nested\":{\"a\":1,\"b\":2}}", 0,
         vector},
        {"digest -", " {\"nested\":{\"b\":2,\"a\":1.0},\"number\":42,\"key\":\"value\"}\\n", 0,
         vector},
        {"digest --json", "{\"type\" : \"object\"}", 0,
         "{\"sha256\":\"a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0\","
         "\"bytes\":17,\"canonical\":\"{\\\"type\\\":\\\"object\\\"}\"}\n"},
        {"digest", "[1,\\n {\"a\":1, \"a\":1}]", 1,
         "mcpxctl digest: standard input, line 2, column 10: a name stands twice in its "
         "object\n"},
        {"digest --json", "1e1000000000", 1,
         "mcpxctl digest: standard input, line 1, column 1: an exponent has more than nine "
         "digits\n"},
        {"digest", "\"\\\\ud800\"", 1,
         "mcpxctl digest: standard input, line 1, column 1: a string holds half a surrogate "
         "pair\n"},
        {"digest", "{\"a\":}", 1, "mcpxctl digest: standard input, line 1, column 6: "},
        {"digest", "", 1, "mcpxctl digest: standard input, line 1, column 1: "},
        {"digest /absent", "", 2, "mcpxctl digest: /absent: No such file or directory\n"},
        {"digest /", "", 2, "mcpxctl digest: /: Is a directory\n"},
        {"digest a b", "", 2, "takes 0 to 1 operands, not 2"},
    };
    char output[OUTPUT_MAX];

    for (size_t i = 0; i < COUNT(rows); i++) {
        int status = run(rows[i].words, rows[i].input, output);

        cr_expect_eq(status, rows[i].status, "%s < %s exits with %d", rows[i].words,
                     rows[i].input, status);
        cr_expect_not_null(strstr(output, rows[i].says), "%s < %s says: %s", rows[i].words,
                           rows[i].input, output);
    }
}

Test(mcpxctl, reports_output_it_could_not_write)
{
    char output[OUTPUT_MAX];

    cr_expect_eq(run("kind chat >/dev/full", NULL, output), 1);
    cr_expect_eq(run("token >/dev/full", NULL, output), 1);
}

/* Verbs, options and choices: completion.c of 10-mcpxctl. */
Test(mcpxctl, completion_offers_files)
{
    static const char *const lines[] = {"digest /etc/hostna", "who --token-file /etc/hostna"};
    char line[2048], output[OUTPUT_MAX];

    for (size_t i = 0; i < COUNT(lines); i++) {
        snprintf(line, sizeof line,
                 "PATH=\"$MCPX_BINARY_DIR/bin:$PATH\" bash -c 'source <(mcpxctl completion "
                 "bash); COMP_WORDS=(mcpxctl %s); COMP_LINE=\"${COMP_WORDS[*]}\"; "
                 "COMP_POINT=${#COMP_LINE}; COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _mcpxctl; "
                 "echo \"${COMPREPLY[*]}\"'",
                 lines[i]);
        cr_expect_eq(command_run(line, output, sizeof output), 0, "%s", line);
        cr_expect_str_eq(output, "/etc/hostname\n", "%s: %s", lines[i], output);
    }
}
