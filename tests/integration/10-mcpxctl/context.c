/*
 * What breaks for whom: an operator speaks in another room than the command line says, a token ends
 * up in a file that people show each other, or a slip in that file is searched for by hand.
 */
#include "stage.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/mcpxctl-context-XXXXXX";

/* No variable but $U, the router's address, says where to connect. */
static void set_up(void)
{
    char line[128];

    stage_set_up();
    cr_assert_not_null(mkdtemp(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("U", getenv("MCPX_URL"), 1);
    unsetenv("MCPX_URL");
    unsetenv("MCPX_TOPIC");
    snprintf(line, sizeof line, "umask 077; printf one-token > %s/token", folder);
    cr_assert_eq(run(line), 0);
}

static void tear_down(void)
{
    folder_remove(folder);
    stage_tear_down();
}

TestSuite(context, .init = set_up, .fini = tear_down);

/* What the shell's variable $F is in these rows. */
static void name_file(void)
{
    char path[128];

    snprintf(path, sizeof path, "%s/mcpx/contexts.json", folder);
    setenv("F", path, 1);
}

Test(context, says_where_and_as_whom)
{
    static const struct row rows[] = {
        {"mcpxctl who 2>&1", 2, "a topic is needed"},
        {"mcpxctl context add room --url $U --topic 'a room/1' --as ann", 0, ""},
        {"mcpxctl who", 0, "fs  mcp/*"},
        {"mcpxctl say hello", 0, "-"},
        {"mcpxctl history --limit 1", 0, "  ann -> everyone  chat  hello\n"},
        {"mcpxctl context add nobody --url ws://127.0.0.1:1 --topic x --as bob", 0, ""},
        {"mcpxctl context use nobody", 0, ""},
        {"mcpxctl who 2>&1", 5, "http://127.0.0.1:1 (from the context nobody) cannot be"},
        {"MCPX_TOKEN=x mcpxctl say x 2>&1", 5,
         "at ws://127.0.0.1:1 (from the context nobody): "},
        {"mcpxctl context add other --url $U/elsewhere --topic x", 0, ""},
        {"mcpxctl who --as ann --context other 2>&1", 5,
         "/elsewhere (from the context other) issues no token for --as"},
        {"mcpxctl --context room who", 0, "fs  mcp/*"},
        {"mcpxctl --json --context=room who", 0, "{\"id\":\"fs\""},
        {"mcpxctl who --context rom 2>&1", 4, "no such context (did you mean room?);"},
        {"mcpxctl who --context room", 0, "fs  mcp/*"},
        {"MCPX_CONTEXT=room mcpxctl who", 0, "fs  mcp/*"},
        {"MCPX_CONTEXT=room mcpxctl who --context nobody 2>&1", 5, "cannot be reached"},
        {"mcpxctl who --url $U --topic 'a room/1'", 0, "fs  mcp/*"},
        {"MCPX_URL=$U MCPX_TOPIC='a room/1' mcpxctl who", 0, "fs  mcp/*"},
        {"MCPX_URL=ws://127.0.0.1:1 mcpxctl who --url $U --topic 'a room/1'", 0, "fs  mcp/*"},
        {"mcpxctl who --context missing 2>&1", 4, "there is no such context"},
        {"MCPX_CONTEXT=missing mcpxctl context list", 0, "  room  --url ws://"},
    };

    expect_rows(rows, COUNT(rows));
}

/* Of what says who one is, the nearest alone counts. */
Test(context, a_token_named_nearer_replaces_the_contexts)
{
    static const struct row rows[] = {
        {"cd $XDG_CONFIG_HOME && mcpxctl context add file --url $U --topic t "
         "--token-file token",
         0, ""},
        {"cd / && mcpxctl who 2>&1", 5, "the router answers 401"},
        {"mcpxctl who --as ann", 0, ""},
        {"mcpxctl context add dev --url $U --topic t --as ann", 0, ""},
        {"mcpxctl who --context dev", 0, ""},
        {"mcpxctl who --context dev --token-file $XDG_CONFIG_HOME/token 2>&1", 5, "401"},
        {"MCPX_TOKEN=other mcpxctl who --context dev 2>&1", 5, "401"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(context, the_file_is_for_its_user_and_holds_no_token)
{
    static const struct row rows[] = {
        {"umask 0; mcpxctl context add a --topic t --token-file $XDG_CONFIG_HOME/token", 0,
         ""},
        {"mcpxctl context add b --token-file one-token 2>&1", 2, "needs a file"},
        {"mcpxctl context add b --token-file=one-token 2>&1", 2, "never kept"},
        {"mcpxctl context add b --token-file / 2>&1", 2, "needs a file"},
        {"mcpxctl context add b --token one-token 2>&1", 2, "did you mean --token-file?"},
        {"mcpxctl context add b one-token 2>&1", 2, "takes 1 to 2 operands"},
        {"mcpxctl context add b --url 'ws://h/ws?token=one-token' 2>&1", 2, "without query"},
        {"mcpxctl context add b --url ws://one-token@h 2>&1", 2, "--url needs"},
    };
    struct stat about;

    for (size_t i = 0; i < COUNT(rows); i++) {
        expect(rows[i].line, rows[i].status, rows[i].says);
        cr_expect_null(strstr(output, "one-token"), "%s says: %s", rows[i].line, output);
    }
    name_file();
    cr_assert_eq(stat(getenv("F"), &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0600);
    cr_assert_eq(run("cat $F"), 0);
    cr_expect_null(strstr(output, "one-token"), "%s", output);
    cr_expect_not_null(strstr(output, "/token\""), "%s", output);
    cr_assert_eq(run("ls -A $XDG_CONFIG_HOME/mcpx"), 0);
    cr_expect_str_eq(output, "contexts.json\n", "nothing is left beside it: %s", output);
}

Test(context, what_is_wrong_with_the_file_is_said_with_its_place)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{", "contexts.json, line 1, column 1: "},
        {"{\\n \"contexts\": {}\\n,}", "contexts.json, line 3, column 2: "},
        {"{\"contexts\": {\\n  \"a\": {\"token\": \"secret\"}}}",
         "line 2, column 18: a context has"},
        {"{\"contexts\": {\"a\": {\"url\": 3}}}", "line 1, column 28: expected a string"},
        {"{\"contexts\": {\"a\": {\"url\": secret}}}", "line 1, column 33: invalid token\n"},
        {"{\"contexts\": {\"a b\": {}}}", "line 1, column 22: a context's name is"},
        {"{\"contexts\": {\"a\": []}}", "line 1, column 20: a context is an object"},
        {"{\"contexts\": {}, \"current\": \"a\"}", "line 1, column 29: \"current\""},
        {"{\"contexts\": {\"a\": {}, \"a\": {}}}", "duplicate object key"},
        {"{}", "line 1, column 1: expected \"contexts\""},
        {"[]", "line 1, column 1: expected an object"},
    };

    name_file();
    cr_assert_eq(run("mkdir $XDG_CONFIG_HOME/mcpx"), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_of(2, rows[i].says, "printf '%s' > $F; mcpxctl who --as ann 2>&1",
                  rows[i].text);
        cr_expect_null(strstr(output, "secret"), "%s", output);
    }
    expect("rm $F; mcpxctl context add a --topic t; mcpxctl context list", 0,
           "* a  --topic t\n");
}

Test(context, actions_say_what_they_want)
{
    static const struct row rows[] = {
        {"mcpxctl context list", 0, ""},
        {"mcpxctl context show 2>&1", 4, "no context is in use"},
        {"mcpxctl context add a --topic t --as ann", 0, ""},
        {"mcpxctl context add a --topic t 2>&1", 2, "of that name already"},
        {"mcpxctl context add 'a b' --topic t 2>&1", 2, "a context's name is"},
        {"mcpxctl context add b 2>&1", 2, "needs something to keep"},
        {"mcpxctl context add b --topic '' 2>&1", 2, "--topic needs"},
        {"mcpxctl context add b --as system 2>&1", 2, "--as needs"},
        {"mcpxctl context add b --as x --token-file $XDG_CONFIG_HOME/token 2>&1", 2,
         "exclude each other"},
        {"mcpxctl context add b --ca-file /nowhere 2>&1", 2, "--ca-file needs a file"},
        {"mcpxctl context add --context b --topic t x 2>&1", 2, "as an operand"},
        {"mcpxctl context use 2>&1", 2, "use needs one NAME"},
        {"mcpxctl context list a 2>&1", 2, "list takes no NAME"},
        {"mcpxctl context show --topic t 2>&1", 2, "show takes no --topic"},
        {"mcpxctl context drop a 2>&1", 2, "needs add|list|show|use|remove as"},
        {"mcpxctl context remove b 2>&1", 4, "there is no such context"},
        {"mcpxctl context show --json", 0,
         "{\"name\":\"a\",\"current\":true,\"topic\":\"t\",\"as\":\"ann\"}\n"},
        {"mcpxctl context remove a", 0, ""},
        {"mcpxctl context show 2>&1", 4, "no context is in use"},
        {"XDG_CONFIG_HOME= HOME= mcpxctl context add a --topic t 2>&1", 1, "nowhere to keep"},
        {"XDG_CONFIG_HOME=/dev/null mcpxctl context add a --topic t 2>&1", 1,
         "cannot be written: Not a directory"},
    };

    expect_rows(rows, COUNT(rows));
}

/* As sudo, containers and services leave it: who says all on the command line needs no file. */
Test(context, a_home_that_is_not_ones_own_keeps_none)
{
    static const struct row rows[] = {
        {"XDG_CONFIG_HOME=/dev/null mcpxctl say hi --url $U --topic t --as ann", 0, "-"},
        {"XDG_CONFIG_HOME=/etc/hostname mcpxctl say hi --url $U --topic t --as ann", 0, "-"},
        {"XDG_CONFIG_HOME=/nowhere mcpxctl say hi --url $U --topic t --as ann", 0, "-"},
        {"XDG_CONFIG_HOME= HOME=/dev/null mcpxctl say hi --url $U --topic t --as ann", 0, "-"},
        {"XDG_CONFIG_HOME=/dev/null mcpxctl who --context a 2>&1", 4, "no such context"},
        {"mkdir $XDG_CONFIG_HOME/mcpx; : > $F; mcpxctl context list", 0, ""},
        {"rm $F; mkfifo $F; mcpxctl who --as ann 2>&1", 2,
         "contexts.json: it is a pipe; expected a regular file\n"},
        {"rm $F; mkdir $F; mcpxctl who --as ann 2>&1", 2, "expected a regular file\n"},
    };

    name_file();
    expect_rows(rows, COUNT(rows));
}
