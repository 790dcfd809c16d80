/*
 * completion.h - completion of command lines in bash, zsh and fish, from a program's tables.
 */
#ifndef TOOLS_COMPLETION_H
#define TOOLS_COMPLETION_H

#include "tools/common/program.h"

/**
 * What the verb "completion" answers: the script for the shell that its first operand names, or, with
 * more operands, what may stand for the last of them. These are the words behind the program's
 * name, the last of which is still being typed.
 *
 * An offer is a line: the word, and for zsh and fish a tab and what it is. A line "<tab>files" or
 * "<tab>commands" asks the shell for its own. What is offered begins as typed and shows as it
 * is. From the first offer on, standard error goes nowhere: what cannot be found out is missing,
 * without a word.
 *
 * Returns STATUS_OK, or STATUS_USAGE, having complained, for another shell.
 */
int completion_answer(FILE *stream, const struct program *program,
                      const struct arguments *arguments);

#endif
