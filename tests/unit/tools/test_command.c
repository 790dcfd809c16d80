/*
 * What breaks for whom: a script's option is taken for something else, a command line meant for
 * another program loses a word, or a word that could be a secret is repeated on a terminal.
 */
#include "tests/support/count.h"
#include "tools/common/command.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

enum { ARGV_MAX = 16 };

static int nothing(const struct arguments *arguments)
{
    (void)arguments;
    return STATUS_OK;
}

static const struct option_row own[] = {
    {"--to", "ID", VALUE_TEXT, OPTION_REPEATED, "an addressee"},
    {"--limit", "N", VALUE_NUMBER, 0, "how many"},
    {"--wait", "S", VALUE_SECONDS, 0, "how long"},
    {"--color", "auto|always|never", VALUE_CHOICE, 0, "colours"},
    {"--json", NULL, VALUE_NONE, 0, "raw"},
    {NULL, NULL, VALUE_NONE, 0, NULL},
};
static const struct option_row needed[] = {
    {"--must", "X", VALUE_TEXT, OPTION_REQUIRED, "needed"},
    {NULL, NULL, VALUE_NONE, 0, NULL},
};
static const struct option_row common[] = {
    {"--url", "URL", VALUE_TEXT, 0, "where"},
    {NULL, NULL, VALUE_NONE, 0, NULL},
};
static const struct command commands[] = {
    {"one", "WORD", 1, 1, false, "", "", own, common, nothing, NULL},
    {"some", "A [B]", 1, 2, false, "", "", own, NULL, nothing, NULL},
    {"pick", "a|b [WORD]", 0, 2, false, "", "", own, NULL, nothing, NULL},
    {"run", "COMMAND...", 1, 0, true, "", "", own, common, nothing, NULL},
    {"must", NULL, 0, 0, false, "", "", needed, NULL, nothing, NULL},
    {NULL, NULL, 0, 0, false, NULL, NULL, NULL, NULL, NULL, NULL},
};

static struct arguments arguments;

/* Cuts "VERB WORD WORD" at its blanks. "''" is the empty word. */
static bool read_words(const char *line)
{
    static char text[512];
    static char *argv[ARGV_MAX];
    int argc = 0;

    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word && argc < ARGV_MAX - 1; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    argv[argc] = NULL;
    return arguments_read(command_find(commands, argv[0]), argc - 1, argv + 1, &arguments) ==
           STATUS_OK;
}

Test(command, takes_options_and_operands_in_any_order)
{
    cr_assert(read_words("one --to a word --to=b --url u --json --wait 2.5 --limit 7"));
    cr_expect_eq(arguments.operand_count, 1);
    cr_expect_str_eq(arguments.operands[0], "word");
    cr_expect_eq(arguments.option_count, 6);
    cr_expect_str_eq(arguments_value(&arguments, "--to"), "b");
    cr_expect_str_eq(arguments_value(&arguments, "--url"), "u");
    cr_expect(arguments_have(&arguments, "--json"));
    cr_expect_eq(arguments_number(&arguments, "--limit", 0), 7);
    cr_expect_eq(arguments_ms(&arguments, "--wait", 0), 2500);
    cr_expect_eq(arguments_ms(&arguments, "--nothing", -1), -1);
}

Test(command, a_rest_stays_whole)
{
    static const struct {
        const char *line;
        const char *rest; /* joined by blanks */
    } rows[] = {
        {"run -- npx --json -h", "npx --json -h"},
        {"run npx --json -- x", "npx --json -- x"},
        {"run --json --url u -- -odd --to", "-odd --to"},
        {"run --to=a cat", "cat"},
        {"run -- -- x", "-- x"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char joined[256] = "";

        cr_expect(read_words(rows[i].line), "%s", rows[i].line);
        cr_expect_null(arguments.rest[arguments.rest_count], "%s", rows[i].line);
        for (size_t word = 0; word < arguments.rest_count; word++) {
            strcat(joined, word > 0 ? " " : "");
            strcat(joined, arguments.rest[word]);
        }
        cr_expect_str_eq(joined, rows[i].rest, "%s", rows[i].line);
    }
}

Test(command, help_is_asked_for_anywhere_before_the_end_of_options)
{
    static const struct {
        const char *line;
        bool help;
    } rows[] = {
        {"one --help", true},     {"one a b c -h", true},  {"must --help", true},
        {"one -- --help", false}, {"run x --help", false}, {"one --to --help x", false},
        {"pick b secret", false}, {"pick", false},         {"run --json -h x", true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect(read_words(rows[i].line), "%s", rows[i].line);
        cr_expect_eq(arguments.help, rows[i].help, "%s", rows[i].line);
    }
}

Test(command, says_what_does_not_fit_and_repeats_no_word, .init = cr_redirect_stderr)
{
    static const char *const rows[] = {
        "one",
        "one secret secret",
        "some",
        "some secret secret secret",
        "run",
        "run --",
        "pick secret word",
        "one secret --secret-secret-secret-secret",
        "one secret --Secret-secret",
        "one secret -secret",
        "one secret --secret-of-\033secret",
        "one secret --to",
        "one secret --limit secret",
        "one secret --limit -1",
        "one secret --limit 1.5",
        "one secret --limit ''",
        "one secret --limit 99999999999999999999",
        "one secret --wait 1.2345",
        "one secret --wait .5",
        "one secret --wait 1hsecret",
        "one secret --wait h",
        "one secret --wait 1.5.5s",
        "one secret --wait 99999999d",
        "one secret --color secret",
        "one secret --color aut",
        "one secret --color ''",
        "one secret --json=secret",
        "must",
        "some secret --url secret",
        "one secret --tl=secret",
    };
    char said[4096];
    size_t len;

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_not(read_words(rows[i]), "%s", rows[i]);
    len = fread(said, 1, sizeof said - 1, cr_get_redirected_stderr());
    said[len] = '\0';
    cr_expect_null(strstr(said, "ecret"), "%s", said);
    cr_expect_not_null(strstr(said, "there is no such option; --help"), "%s", said);
    cr_expect_not_null(strstr(said, "no option --tl (did you mean --to?)"), "%s", said);
    cr_expect_not_null(strstr(said, "takes 1 to 2 operands, not 3"), "%s", said);
    cr_expect_not_null(strstr(said, "takes 1 or more operands, not 0"), "%s", said);
    cr_expect_not_null(strstr(said, "needs a|b as its first word"), "%s", said);
    cr_expect_not_null(strstr(said, "--must X is required"), "%s", said);
    cr_expect_not_null(strstr(said, "--color is one of auto|always|never"), "%s", said);
}

Test(command, numbers_keep_their_bounds)
{
    static const struct {
        const char *line;
        int64_t wait_ms;
    } rows[] = {
        {"one w --wait 0.001", 1},      {"one w --wait 3.", 3000},
        {"one w --wait 45s", 45000},    {"one w --wait 5m", 300000},
        {"one w --wait 1.5h", 5400000}, {"one w --wait 2d", 172800000},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect(read_words(rows[i].line), "%s", rows[i].line);
        cr_expect_eq(arguments_ms(&arguments, "--wait", 0), rows[i].wait_ms, "%s",
                     rows[i].line);
    }
    cr_expect(read_words("one w --limit 1000000000"));
    cr_expect_eq(arguments_number(&arguments, "--limit", 0), NUMBER_MAX);
    cr_expect(read_words("one -"));
    cr_expect_str_eq(arguments.operands[0], "-");
}

Test(command, complaints_say_of_what_and_where, .init = cr_redirect_stderr)
{
    static const char text[] = "{\n \"\xc3\xa9\": x";
    char said[4096], long_id[600];
    size_t len;

    memset(long_id, 'i', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    complain_as("program", "verb");
    fail_at(1, "file", 1, (struct mcpx_slice){text, 0}, "first");
    fail_at(1, "file", 1, (struct mcpx_slice){text, 2}, "second");
    fail_at(1, "file", 1, (struct mcpx_slice){text, strlen(text) - 1}, "third");
    fail_of(1, mcpx_slice_of("a\033b"), " is %s", "gone");
    fail_of(1, mcpx_slice_of(long_id), " is long");
    len = fread(said, 1, sizeof said - 1, cr_get_redirected_stderr());
    said[len] = '\0';
    cr_expect_not_null(strstr(said, "program verb: file, line 1, column 1: first\n"), "%s",
                       said);
    cr_expect_not_null(strstr(said, "file, line 2, column 1: second\n"), "%s", said);
    cr_expect_not_null(strstr(said, "file, line 2, column 7: third\n"), "%s", said);
    cr_expect_not_null(strstr(said, "program verb: a\\u001bb is gone\n"), "%s", said);
    cr_expect_not_null(strstr(said, "iii... is long\n"), "%s", said);
    cr_expect_null(strstr(said, long_id), "%s", said);
}

/* What breaks for whom: a library that finds no memory in another way, and half a text is sent. */
Test(memory, that_the_library_does_not_find_ends_the_program, .exit_code = STATUS_MEMORY)
{
    cr_assert_eq(memory_checked(MCPX_EINVALID), MCPX_EINVALID);
    memory_checked(MCPX_ENOMEM);
}

Test(memory, that_a_text_has_not_found_ends_the_program, .exit_code = STATUS_MEMORY)
{
    cr_assert_eq(text_whole(&(struct mcpx_text){.text = "x", .len = 1}).len, 1);
    text_whole(&(struct mcpx_text){.text = "x", .len = 1, .failed = true});
}
