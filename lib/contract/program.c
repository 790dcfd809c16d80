/*
 * program.c - what a program holds, given back and counted.
 */
#include "lib/contract/program.h"
#include "lib/contract/tree_read.h"

#include <stdlib.h>

void mx_program_fini(struct mx_program *program)
{
    for (size_t i = 0; i < program->regex_count; i++)
        mx_regex_free(program->regexes[i]);
    free(program->regexes);
    free(program->units);
    free(program->ops);
    free(program->values);
    mx_tree_fini(&program->constants);
    mx_arena_fini(&program->arena);
}

size_t mx_program_bytes(const struct mx_program *program)
{
    return program->arena.bytes + program->unit_count * sizeof *program->units +
           program->op_count * sizeof *program->ops +
           program->regex_count * sizeof *program->regexes + program->regex_sums.memory +
           program->value_count * sizeof *program->values +
           program->constants.room * sizeof *program->constants.nodes;
}
