/*
 * completion.h - completion of command lines in bash, zsh and fish, from a program's tables.
 */
#ifndef TOOLS_COMPLETION_H
#define TOOLS_COMPLETION_H

#include "tools/common/program.h"

/**
 * What the verb "completion" answers. With one operand, the name of a shell, it prints the script
 * for that shell. With more operands it prints offers for the last of them. These operands are the
 * words behind the program's name; the last one is still being typed.
 *
 * An offer is a line: the word, and for zsh and fish a tab and what the word is. A line
 * "<tab>files" or "<tab>commands" asks the shell to offer its own. An offer begins with what was
 * typed, and has no characters that text_visible would escape. From the first offer on, standard
 * error is discarded: what cannot be found out is not offered, and nothing says so.
 *
 * Returns STATUS_OK, or STATUS_USAGE, having complained, for another shell.
 */
int completion_answer(FILE *stream, const struct program *program,
                      const struct arguments *arguments);

#endif
