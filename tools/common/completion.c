/*
 * completion.c - offers for the last word of a command line, and a short script per shell. The
 * script asks for the offers when the user presses Tab.
 *
 * Rejected: scripts that know the verbs themselves. The rules would be written in three languages,
 * and a script does not know the participants of the topic. The command line is unfinished here, so
 * errors are not reported, and the calls to the router only read.
 */
#include "tools/common/program.h"

#include "tools/common/visible.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ABOUT_MAX = 72 };

/* In these scripts, \1 is the program's name, and \2 is the name with "_" in place of "-". */
static const char bash_script[] =
    "# bash completion for \1, printed by: \1 completion bash\n"
    "_\2() {\n"
    "    local rest=${COMP_LINE:0:COMP_POINT} word part cut='' offer words=()\n"
    "    # bash cuts words at : and =; here they are put together again, without quotes.\n"
    "    for word in \"${COMP_WORDS[@]:0:COMP_CWORD+1}\"; do\n"
    "        part=${rest#\"${rest%%[![:space:]]*}\"}\n"
    "        if [ \"$part\" = \"$rest\" ] && [ ${#words[@]} -gt 0 ]; then\n"
    "            words[-1]+=$word\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "        rest=${part#\"$word\"}\n"
    "    done\n"
    "    words=(\"${words[@]//[\\\"\\'\\\\]/}\")\n"
    "    words=(\"${words[@]/#\\~\\//$HOME/}\")\n"
    "    [[ $COMP_WORDBREAKS != *[:=]* ]] || cut=${words[-1]%\"${words[-1]##*[:=]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r offer; do\n"
    "        case $offer in\n"
    "        $'\\tfiles')\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t COMPREPLY < <(compgen -f -- \"${words[-1]#\"$cut\"}\")\n"
    "            return ;;\n"
    "        $'\\tcommands')\n"
    "            mapfile -t COMPREPLY < <(compgen -c -- \"${words[-1]}\")\n"
    "            return ;;\n"
    "        esac\n"
    "        offer=${offer#\"$cut\"}\n"
    "        if [[ ${COMP_WORDS[COMP_CWORD]} != [\\\"\\']* ]]; then\n"
    "            printf -v offer %q \"$offer\"\n"
    "        elif [[ $offer == *[\\$\\`\\\"\\'\\\\!]* ]]; then\n"
    "            continue\n"
    "        fi\n"
    "        COMPREPLY+=(\"$offer\")\n"
    "    done < <(\1 completion bash -- \"${words[@]:1}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _\2 \1\n";

static const char zsh_script[] =
    "#compdef \1\n"
    "# zsh completion for \1, printed by: \1 completion zsh\n"
    "_\2() {\n"
    "    local -a typed offers\n"
    "    local line word\n"
    "    (( CURRENT < 3 )) || typed=(\"${(@Q)words[2,CURRENT-1]}\")\n"
    "    typed+=(\"${(Q)PREFIX}\")\n"
    "    typed=(\"${(@)typed/#\\~\\//$HOME/}\")\n"
    "    for line in \"${(@f)$(\1 completion zsh -- \"${(@)typed}\" 2>/dev/null)}\"; do\n"
    "        case $line in\n"
    "        ($'\\tfiles') _files; return ;;\n"
    "        ($'\\tcommands') _command_names -e; return ;;\n"
    "        (?*)\n"
    "            word=${line%%$'\\t'*}\n"
    "            word=${word//\\\\/\\\\\\\\}\n"
    "            offers+=(\"${word//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#offers )) && _describe '\1' offers\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _\2 ]; then\n"
    "    _\2 \"$@\"\n"
    "else\n"
    "    compdef _\2 \1\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion for \1, printed by: \1 completion fish\n"
    "function __\2_offers\n"
    "    set -l typed (commandline -opc)\n"
    "    set -l last (commandline -ct | string unescape)\n"
    "    test -n \"$last\"; or set last ''\n"
    "    set -l offers (\1 completion fish -- $typed[2..-1] $last 2>/dev/null)\n"
    "    switch \"$offers[1]\"\n"
    "        case ''\n"
    "            return\n"
    "        case \\tfiles\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        case \\tcommands\n"
    "            __fish_complete_command\n"
    "        case '*'\n"
    "            printf '%s\\n' $offers\n"
    "    end\n"
    "end\n"
    "complete -c \1 -f -a '(__\2_offers)'\n";

/* In the order of COMPLETION_ROW. */
static const struct shell {
    const char *script;
    bool shows_about; /* can show "WORD<tab>what it is" */
} shells[] = {
    {bash_script, false},
    {zsh_script, true},
    {fish_script, true},
};

/* A command line being typed, and what the offers for its last word need. */
struct typing {
    const struct program *program;
    const struct shell *shell;
    struct arguments line;         /* the words before the last one */
    const struct option_row *open; /* the option whose value the last word is */
    const char *before;            /* the part of the last word to keep: "--to=" */
    size_t before_len;
    const char *last; /* the part to complete */
    size_t count;     /* offers so far */
};

static void print_script(const struct program *program, const char *script)
{
    for (; *script; script++) {
        if (*script == '\1')
            fputs(program->name, stdout);
        else if (*script != '\2')
            putchar(*script);
        else
            for (const char *at = program->name; *at; at++)
                putchar(*at == '-' ? '_' : *at);
    }
}

/* A word that needs escapes is not offered, because shells print offers unchanged. */
static bool is_plain(struct mcpx_slice word)
{
    mx_scoped_text shown = {0};

    text_visible(&shown, word);
    return mcpx_slice_equal(mcpx_text_view(&shown), word);
}

/* Adds the first sentence of `about`. */
void completion_offer(struct typing *typing, struct mcpx_slice word, struct mcpx_slice about)
{
    size_t typed = strlen(typing->last), len = 0;

    while (len < about.len && len < ABOUT_MAX && !strchr(";.\n", about.text[len]))
        len++;
    if (word.len == 0 || word.len < typed || memcmp(word.text, typing->last, typed) != 0 ||
        !is_plain(word))
        return;
    printf("%.*s%.*s", (int)typing->before_len, typing->before, (int)word.len, word.text);
    if (typing->shell->shows_about)
        printf("\t%.*s", (int)len, len > 0 ? about.text : "");
    putchar('\n');
    typing->count++;
}

static void offer_verbs(struct typing *typing)
{
    for (const struct command *row = typing->program->commands; row->name; row++)
        completion_offer(typing, mcpx_slice_of(row->name), mcpx_slice_of(row->summary));
}

static void offer_choices(struct typing *typing, const char *choices, size_t len)
{
    for (const char *end = choices + len; choices < end;) {
        size_t choice = strcspn(choices, "| ]");

        completion_offer(typing, (struct mcpx_slice){choices, choice}, MCPX_SLICE(""));
        choices += choice + 1;
    }
}

static void offer_value(struct typing *typing, enum value_type type, const char *value,
                        size_t len)
{
    if (type == VALUE_FILE)
        puts("\tfiles");
    else if (type == VALUE_CHOICE)
        offer_choices(typing, value, len);
    else if (type == VALUE_VERB)
        offer_verbs(typing);
    else if (type >= VALUE_PARTICIPANT && typing->program->offer)
        typing->program->offer(&typing->line, type, typing);
}

/* The next operand in the usage line, without brackets, and its length; NULL behind the last. */
static const char *next_operand(const struct typing *typing, size_t *len)
{
    const char *at = typing->line.command->operands;

    for (size_t i = 0; at && i < typing->line.operand_count; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    *len = at ? strcspn(at, " ") : 0;
    if (*len > 2 && at[0] == '[' && at[*len - 1] == ']') {
        at++;
        *len -= 2;
    }
    return at;
}

static void offer_operand(struct typing *typing)
{
    size_t len;
    const char *name = next_operand(typing, &len);
    const struct operand_row *row = typing->program->operands;

    if (name && islower((unsigned char)*name))
        offer_value(typing, VALUE_CHOICE, name, len);
    for (; name && row && row->name; row++)
        if (strlen(row->name) == len && memcmp(row->name, name, len) == 0)
            offer_value(typing, row->type, name, len);
}

static void offer_options(struct typing *typing, const struct option_row *list)
{
    for (const struct option_row *row = list; row && row->name; row++)
        if ((row->flags & OPTION_REPEATED) || !arguments_have(&typing->line, row->name))
            completion_offer(typing, mcpx_slice_of(row->name), mcpx_slice_of(row->help));
}

/* Offers for the last word of a verb's line. */
static void offer_last(struct typing *typing)
{
    const char *equals = strchr(typing->last, '=');
    const struct command *command = typing->line.command;
    const struct option_row *row = typing->open;
    bool is_option = typing->last[0] == '-' && !typing->line.options_end;

    if (!row && is_option && equals) {
        row = option_find(command, typing->last, (size_t)(equals - typing->last));
        typing->before = typing->last;
        typing->before_len = (size_t)(equals + 1 - typing->last);
        typing->last = equals + 1;
    }
    if (row) {
        offer_value(typing, row->type, row->value, row->value ? strlen(row->value) : 0);
    } else if (command->rest && typing->last[0] != '-') {
        puts(typing->line.rest_count > 0 ? "\tfiles" : "\tcommands");
    } else {
        if (!is_option)
            offer_operand(typing);
        if (typing->line.options_end || (typing->count > 0 && !is_option))
            return;
        completion_offer(typing, MCPX_SLICE("--help"), MCPX_SLICE("show help"));
        offer_options(typing, command->options);
        offer_options(typing, command->shared);
    }
}

/* A complaint would be printed into the line that the user is typing. */
static void be_silent(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(STATUS_FAILED);
    close(fd);
}

/* Reads the words before the last one, without the verb, as far as they fit. */
static void read_line(struct typing *typing, const char *const *words, size_t count,
                      size_t verb)
{
    struct arguments *line = &typing->line;
    static char *argv[WORDS_MAX];
    int argc = 0;

    for (size_t i = 0; i < count - 1; i++)
        if (i != verb)
            argv[argc++] = (char *)(uintptr_t)words[i];
    arguments_read(command_find(typing->program->commands, words[verb]), argc, argv, line);
    if (line->option_count > 0) {
        const struct option_word *last = &line->options[line->option_count - 1];

        if (last->option->type != VALUE_NONE && !last->value) {
            typing->open = last->option;
            line->option_count--;
        }
    }
}

static void offer_words(struct typing *typing, const char *const *words, size_t count)
{
    size_t verb = command_verb_at(typing->program->commands, words, count - 1);

    be_silent();
    typing->last = words[count - 1];
    typing->before = "";
    if (verb == count - 1) {
        completion_offer(typing, MCPX_SLICE("--help"), MCPX_SLICE("list the verbs"));
        completion_offer(typing, MCPX_SLICE("--version"), MCPX_SLICE("print the version"));
        completion_offer(typing, MCPX_SLICE("--man"), MCPX_SLICE("print the manual page"));
        offer_verbs(typing);
        return;
    }
    if (!command_find(typing->program->commands, words[verb]))
        return;
    read_line(typing, words, count, verb);
    offer_last(typing);
}

int cmd_completion(const struct arguments *arguments)
{
    static struct typing typing;

    typing.program = program_running();
    typing.shell = &shells[arguments_action(arguments)];
    if (arguments->operand_count == 1)
        print_script(typing.program, typing.shell->script);
    else
        offer_words(&typing, arguments->operands + 1, arguments->operand_count - 1);
    return STATUS_OK;
}
