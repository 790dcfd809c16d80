/*
 * completion.c - the table of verbs as a completion script for bash.
 * The script is static text: asking the program at every key press was refused, because that would
 * run it on half-typed command lines.
 */
#include "tools/common/program.h"

#include <string.h>

static void print_names(FILE *stream, const struct option_row *list)
{
    for (const struct option_row *row = list; row && row->name; row++)
        fprintf(stream, " %s", row->name);
}

/* "a|b|c" as "a b c". */
static void print_choices(FILE *stream, const char *choices)
{
    for (; *choices; choices++)
        fputc(*choices == '|' ? ' ' : *choices, stream);
}

/* One arm per option with a value: what may stand behind it. */
static void print_values(FILE *stream, const struct command *command,
                         const struct option_row *list)
{
    for (const struct option_row *row = list; row && row->name; row++) {
        if (row->type == VALUE_NONE)
            continue;
        fprintf(stream, "    '%s %s')", command->name, row->name);
        if (row->type == VALUE_FILE) {
            fputs(" mapfile -t COMPREPLY < <(compgen -f -- \"$cur\");", stream);
        } else if (row->type == VALUE_CHOICE) {
            fputs(" mapfile -t COMPREPLY < <(compgen -W '", stream);
            print_choices(stream, row->value);
            fputs("' -- \"$cur\");", stream);
        }
        fputs(" return ;;\n", stream);
    }
}

static void print_verb(FILE *stream, const struct command *command)
{
    fprintf(stream, "    %s) words='--help", command->name);
    print_names(stream, command->options);
    print_names(stream, command->shared);
    fputs("'", stream);
    if (command->rest)
        fputs("; rest=-c", stream);
    else if (command->operands && strcmp(command->operands, "bash") == 0)
        fputs("; words=\"$words bash\"", stream);
    fputs(" ;;\n", stream);
}

static void print_function_name(FILE *stream, const char *name)
{
    fputc('_', stream);
    for (; *name; name++)
        fputc(*name == '-' ? '_' : *name, stream);
}

void completion_print(FILE *stream, const struct program *program)
{
    fprintf(stream, "# bash completion for %s, printed by: %s completion bash\n",
            program->name, program->name);
    print_function_name(stream, program->name);
    fputs("() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local verb=${COMP_WORDS[1]} words='' rest=''\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W '--help --version --man",
          stream);
    for (const struct command *command = program->commands; command->name; command++)
        fprintf(stream, " %s", command->name);
    fputs("' -- \"$cur\")\n"
          "        return\n"
          "    fi\n"
          "    case \"$verb $prev\" in\n",
          stream);
    for (const struct command *command = program->commands; command->name; command++) {
        print_values(stream, command, command->options);
        print_values(stream, command, command->shared);
    }
    fputs("    esac\n"
          "    case $verb in\n",
          stream);
    for (const struct command *command = program->commands; command->name; command++)
        print_verb(stream, command);
    fputs("    esac\n"
          "    if [ -n \"$rest\" ] && [[ $cur != -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen \"$rest\" -- \"$cur\")\n"
          "        return\n"
          "    fi\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "}\n"
          "complete -F ",
          stream);
    print_function_name(stream, program->name);
    fprintf(stream, " %s\n", program->name);
}
