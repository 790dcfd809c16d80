/*
 * command.c - reads a command line by the row of its verb. Rejected: getopt. POSIX has no long
 * options, and a second description of the options beside the help would go stale.
 */
#include "tools/common/command.h"

#include "lib/base/digits.h"
#include "lib/base/match.h"
#include "lib/edge/line_writer.h"
#include "tools/common/program.h"
#include "tools/common/visible.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct option_row no_options[] = {{.name = NULL}};

enum { COMPLAINT_MAX = 4096, SUBJECT_MAX = 256, DRAIN_MS = 1000, OPTION_NAME_MAX = 22 };

static struct mx_line_writer complaints = {.fd = STDERR_FILENO};

static const char *program_name = "mcpx", *verb_name;
static bool is_json;

const struct command *command_find(const struct command *table, const char *name)
{
    for (const struct command *command = table; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

void complain_as(const char *program, const char *verb)
{
    program_name = program;
    verb_name = verb;
}

void complain_as_json(void)
{
    is_json = true;
}

void complain_of_missing(uint64_t count, const char *why)
{
    mx_scoped_text text = mx_formatted("%s lines are missing here: %s", count, why),
                   line = {0};

    if (is_json)
        mx_format(&line, "{\"event\":\"lines_missing\",\"text\":%q}\n", &text);
    else
        mx_format(&line, "%s%s%s: %s\n", program_name, verb_name ? " " : "", verb_name, &text);
    mx_line_writer_put(&complaints, text_whole(&line));
}

/* Prints how many lines were lost, in the place where they are missing. */
static void report_lost(void)
{
    uint64_t lost = complaints.lost;

    if (!mx_line_writer_may_report_lost(&complaints))
        return;
    complaints.lost = 0;
    complain_of_missing(lost, "standard error was not read");
}

void complain_without_waiting(void)
{
    mx_line_writer_open(&complaints, STDERR_FILENO);
}

void complaints_flush(void)
{
    if (mx_line_writer_flush(&complaints))
        report_lost();
}

void complaints_drain(void)
{
    if (mx_line_writer_drain(&complaints, DRAIN_MS))
        report_lost();
    mx_line_writer_close(&complaints);
}

void complaints_put(struct mcpx_slice lines)
{
    complaints_flush();
    mx_line_writer_put(&complaints, lines);
}

/* One write for the whole line, so that lines of several programs do not mix. */
__attribute__((format(printf, 2, 0))) static void
put_line(struct mcpx_slice what, const char *format, va_list arguments)
{
    char sentence[COMPLAINT_MAX];
    mx_scoped_text line = {0};

    vsnprintf(sentence, sizeof sentence, format, arguments);
    mx_format(&line, "%s%s%s: ", program_name, verb_name ? " " : "", verb_name);
    text_visible_short(&line, what, SUBJECT_MAX);
    text_lines(&line, mcpx_slice_of(sentence));
    mcpx_text_puts(&line, "\n");
    complaints_put(text_whole(&line));
}

int fail_with(int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_line(MCPX_SLICE(""), format, arguments);
    va_end(arguments);
    return status;
}

int fail_of(int status, struct mcpx_slice what, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_line(what.len > 0 ? what : MCPX_SLICE("?"), format, arguments);
    va_end(arguments);
    return status;
}

int fail_at(int status, const char *where, size_t line, struct mcpx_slice before,
            const char *sentence)
{
    size_t column = 1;

    for (size_t i = 0; i < before.len; i++) {
        bool ends = before.text[i] == '\n', begins = (before.text[i] & 0xc0) != 0x80;

        line += ends;
        column = ends ? 1 : column + begins;
    }
    return fail_with(status, "%s, line %zu, column %zu: %s", where, line, column, sentence);
}

enum mcpx_err memory_checked(enum mcpx_err err)
{
    if (err == MCPX_ENOMEM)
        end_without_memory(program_name);
    return err;
}

struct mcpx_slice text_whole(const struct mcpx_text *text)
{
    if (text->failed)
        end_without_memory(program_name);
    return mcpx_text_view(text);
}

enum { BEGINNING_MIN = 3, WRONG_MAX = 3 };

static const struct mx_typo_costs costs = {.edit = 1, .swap = 1};

void nearest_begin(struct nearest *nearest, const char *word, size_t len)
{
    while (len > 0 && *word == '-') {
        word++;
        len--;
    }
    *nearest = (struct nearest){.word = word, .len = len};
    nearest->wrong = (len < 3 * WRONG_MAX ? (len + 1) / 3 : WRONG_MAX) + 1;
}

void nearest_consider(struct nearest *nearest, const char *name)
{
    const char *letters = name + strspn(name, "-");
    size_t len = strlen(letters), wrong;
    struct mx_typo typo;

    if (nearest->len > NEAREST_NAME || strlen(name) > NEAREST_NAME)
        return;
    wrong = mx_typo_compare(&typo, &costs, (struct mcpx_slice){nearest->word, nearest->len},
                            (struct mcpx_slice){letters, len});
    if (wrong > 1 && nearest->len >= BEGINNING_MIN &&
        strncmp(nearest->word, letters, nearest->len) == 0)
        wrong = 1;
    if (wrong >= nearest->wrong)
        return;
    nearest->wrong = wrong;
    snprintf(nearest->hint, sizeof nearest->hint, " (did you mean %s?)", name);
}

/* Decimal digits, and up to `places` digits after a point, as one integer, up to `end`. */
static bool read_decimal(const char *text, size_t places, int64_t *out, const char **end)
{
    int64_t number = 0;
    bool point = false, digit = false;

    for (; *text && number <= (int64_t)NUMBER_MAX * 1000; text++) {
        if (*text == '.' && !point && digit && places > 0) {
            point = true;
            continue;
        }
        if (!mx_is_digit(*text) || (point && places == 0))
            break;
        number = number * 10 + (*text - '0');
        digit = true;
        places -= point;
    }
    for (; places > 0; places--)
        number *= 10;
    *out = number;
    *end = text;
    return digit;
}

bool duration_read(const char *text, int64_t *ms)
{
    static const int64_t seconds[] = {1, 1, 60, 3600, 86400};
    static const char *const units[] = {"", "s", "m", "h", "d"};
    const char *end;
    int64_t number;

    if (!read_decimal(text, 3, &number, &end))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i]) == 0 && number <= (int64_t)NUMBER_MAX * 1000 / seconds[i]) {
            *ms = number * seconds[i];
            return true;
        }
    return false;
}

enum { NO_CHOICE = -1 };

/* The index of a choice. Choices end with the text, a blank or bracket: "a|b", "[a|b] [WORD]". */
static int choice_of(const char *choices, const char *value)
{
    size_t len = strlen(value);

    choices += *choices == '[';
    for (int index = 0;; index++) {
        size_t choice = strcspn(choices, "| ]");

        if (choice == len && memcmp(choices, value, len) == 0)
            return index;
        if (choices[choice] != '|')
            return NO_CHOICE;
        choices += choice + 1;
    }
}

static int check_value(const struct option_row *row, const char *value)
{
    int64_t number = 0;
    const char *end;

    switch (row->type) {
    case VALUE_NUMBER:
        if (read_decimal(value, 0, &number, &end) && !*end && number <= NUMBER_MAX)
            return STATUS_OK;
        return fail_with(STATUS_USAGE, "%s needs a whole number, at most %d", row->name,
                         NUMBER_MAX);
    case VALUE_SECONDS:
        if (duration_read(value, &number))
            return STATUS_OK;
        return fail_with(STATUS_USAGE,
                         "%s needs seconds, such as 30 or 2.5, or 45s, 5m, 1h, 2d", row->name);
    case VALUE_CHOICE:
        if (choice_of(row->value, value) != NO_CHOICE)
            return STATUS_OK;
        return fail_with(STATUS_USAGE, "%s is one of %s", row->name, row->value);
    default:
        return STATUS_OK;
    }
}

/* True for two dashes, small letters and digits: a misplaced token does not look like that. */
static bool is_option_name(const char *word, size_t len)
{
    return len > 2 && len <= OPTION_NAME_MAX && strncmp(word, "--", 2) == 0 &&
           strspn(word, "-abcdefghijklmnopqrstuvwxyz0123456789") >= len;
}

/* `word` may go on with "=value" after `len` bytes. */
static int complain_of_option(const struct command *command, const char *word, size_t len)
{
    const struct option_row *const lists[] = {command->options, command->shared};
    struct nearest nearest;

    nearest_begin(&nearest, word, len);
    for (size_t i = 0; i < 2; i++)
        for (const struct option_row *row = lists[i]; row && row->name; row++)
            nearest_consider(&nearest, row->name);
    nearest_consider(&nearest, "--help");
    if (!is_option_name(word, len))
        return fail_with(STATUS_USAGE, "there is no such option%s; --help lists them",
                         nearest.hint);
    return fail_with(STATUS_USAGE, "there is no option %.*s%s; --help lists them", (int)len,
                     word, nearest.hint);
}

const struct option_row *option_find(const struct command *command, const char *word,
                                     size_t len)
{
    const struct option_row *const lists[] = {command->options, command->shared};

    if (len == strlen("--terms") && memcmp(word, "--terms", len) == 0)
        return option_find(command, "--contracts", strlen("--contracts")); /* until 1.0 */
    for (size_t i = 0; i < 2; i++)
        for (const struct option_row *row = lists[i]; row && row->name; row++)
            if (strlen(row->name) == len && memcmp(row->name, word, len) == 0)
                return row;
    return NULL;
}

size_t command_verb_at(const struct command *table, const char *const *words, size_t count)
{
    size_t at = 0;

    while (at < count && words[0][0] == '-' && !command_find(table, words[at])) {
        size_t len = strcspn(words[at], "=");
        const struct option_row *row = NULL;

        for (const struct command *command = table; command->name && !row; command++)
            row = option_find(command, words[at], len);
        at += row && row->type != VALUE_NONE && words[at][len] != '=' ? 2 : 1;
    }
    return at < count ? at : count;
}

/* Reads the option at argv[*at], and its value when that is the next word. */
static int read_option(struct arguments *out, char **argv, int argc, int *at)
{
    const char *word = argv[*at], *value;
    size_t len = strcspn(word, "=");
    const struct option_row *row = option_find(out->command, word, len);

    if (!row)
        return complain_of_option(out->command, word, len);
    value = word[len] == '=' ? word + len + 1 : NULL;
    if (row->type == VALUE_NONE && value)
        return fail_with(STATUS_USAGE, "%s takes no value", row->name);
    if (row->type != VALUE_NONE && !value && *at + 1 < argc)
        value = argv[++*at];
    out->options[out->option_count++] = (struct option_word){row, value};
    if (row->type == VALUE_NONE)
        return STATUS_OK;
    return value ? check_value(row, value)
                 : fail_with(STATUS_USAGE, "%s needs a value: %s %s", row->name, row->name,
                             row->value);
}

/* Options that all verbs of a program share are not required. */
static int check_required(const struct arguments *arguments)
{
    for (const struct option_row *row = arguments->command->options; row->name; row++)
        if ((row->flags & OPTION_REQUIRED) && !arguments_have(arguments, row->name))
            return fail_with(STATUS_USAGE, "%s %s is required", row->name, row->value);
    return STATUS_OK;
}

/* Writes the number of operands of a verb, in words. */
static void write_count(const struct command *command, char *text, size_t size)
{
    if (command->rest)
        snprintf(text, size, "%zu or more operands", command->min);
    else if (command->min != command->max)
        snprintf(text, size, "%zu to %zu operands", command->min, command->max);
    else
        snprintf(text, size, "%zu operand%s", command->min, command->min == 1 ? "" : "s");
}

static int check_first_word(const struct command *command, const struct arguments *arguments)
{
    const char *choices = command->operands ? command->operands : "";

    choices += *choices == '[';
    if (!islower((unsigned char)*choices) || arguments->operand_count == 0 ||
        choice_of(choices, arguments->operands[0]) != NO_CHOICE)
        return STATUS_OK;
    return fail_with(STATUS_USAGE, "needs %.*s as its first word", (int)strcspn(choices, " ]"),
                     choices);
}

/* Checks the operands, and that required options are there. */
static int check_words(const struct command *command, const struct arguments *arguments)
{
    size_t count = command->rest ? arguments->rest_count : arguments->operand_count;
    char wanted[64];
    int status;

    if (count < command->min || (!command->rest && count > command->max)) {
        write_count(command, wanted, sizeof wanted);
        return fail_with(STATUS_USAGE, "takes %s, not %zu", wanted, count);
    }
    status = check_first_word(command, arguments);
    return status == STATUS_OK ? check_required(arguments) : status;
}

/* Reads the word at argv[*at], which is an option, "--", "--help" or "-h". */
static int take_option(struct arguments *out, char **argv, int argc, int *at)
{
    const char *word = argv[*at];

    out->options_end = strcmp(word, "--") == 0;
    out->help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    return out->options_end || out->help ? STATUS_OK : read_option(out, argv, argc, at);
}

int arguments_read(const struct command *command, int argc, char **argv, struct arguments *out)
{
    int status = STATUS_OK, i;

    *out = (struct arguments){.command = command};
    for (i = 0; i < argc && !out->help; i++) {
        bool operand = out->options_end || argv[i][0] != '-' || argv[i][1] == '\0';

        if (operand && command->rest)
            break;
        if (out->operand_count == WORDS_MAX || out->option_count == WORDS_MAX)
            return fail_with(STATUS_USAGE, "more than %d words", WORDS_MAX);
        if (operand)
            out->operands[out->operand_count++] = argv[i];
        else if (take_option(out, argv, argc, &i) != STATUS_OK)
            status = STATUS_USAGE;
    }
    out->rest = argv + i;
    out->rest_count = (size_t)(argc - i);
    return status != STATUS_OK || out->help ? status : check_words(command, out);
}

const struct option_word *arguments_next(const struct arguments *arguments, const char *name,
                                         size_t *at)
{
    while (*at < arguments->option_count) {
        const struct option_word *word = &arguments->options[(*at)++];

        if (strcmp(word->option->name, name) == 0)
            return word;
    }
    return NULL;
}

static const struct option_word *last_of(const struct arguments *arguments, const char *name)
{
    const struct option_word *word, *last = NULL;

    for (size_t at = 0; (word = arguments_next(arguments, name, &at));)
        last = word;
    return last;
}

bool arguments_have(const struct arguments *arguments, const char *name)
{
    return last_of(arguments, name) != NULL;
}

const char *arguments_value(const struct arguments *arguments, const char *name)
{
    const struct option_word *word = last_of(arguments, name);

    return word ? word->value : NULL;
}

size_t arguments_choice(const struct arguments *arguments, const char *name)
{
    const struct option_word *word = last_of(arguments, name);

    return word ? (size_t)choice_of(word->option->value, word->value) : 0;
}

size_t arguments_action(const struct arguments *arguments)
{
    const char *word = arguments->operands[0];

    return word ? (size_t)choice_of(arguments->command->operands, word) : 0;
}

int64_t arguments_number(const struct arguments *arguments, const char *name, int64_t fallback)
{
    const char *value = arguments_value(arguments, name);

    if (value)
        read_decimal(value, 0, &fallback, &value);
    return fallback;
}

int64_t arguments_ms(const struct arguments *arguments, const char *name, int64_t fallback)
{
    const char *value = arguments_value(arguments, name);

    if (value)
        duration_read(value, &fallback);
    return fallback;
}
