/*
 * import_world.h - an import between a topic and a server that are both played by a test: rows
 * of what happens, and of what the import then does.
 * Includes import.h only.
 *
 * What happens ("in"):
 *   start                     the process runs
 *   ready                     the same, and it is initialised the old way; what the import does
 *                             on the way is not compared. The next number on the pipe is 3
 *   server TEXT               the server writes a line
 *   request WHO ENVELOPE RPC  a participant asks
 *   notify WHO ABOUT RPC      a participant notifies; ABOUT "-" = no correlation, "own" = about a
 *                             question of ours
 *   lie WHO ENVELOPE RPC      a request whose kind says something else
 *   answer TAG RPC            a participant answers a question of the server
 *   expired TAG | refused TAG what else may become of it
 *   left WHO                  a participant leaves
 *   down SIGNAL | gone CODE   the server dies and comes back | is gone for good
 *   failed                    it cannot be executed
 *   deaf | listening          the child does not take lines | does again
 *   narrow BYTES              the router takes no longer messages
 *   nochat                    we may not chat
 *   wait MS                   time passes
 *
 * What the import does ("out", one line each, in order):
 *   child TEXT                to the server
 *   reply ENVELOPE RPC        respond
 *   say KIND to=WHO about=ENVELOPE tag=N RPC
 *                             send; parts that are absent are left out
 *   forget ID | kill | log TEXT (only rows that begin with "log" in `in` see the log)
 *
 * In both, ' stands for " and @ for "jsonrpc":"2.0".
 */
#ifndef IMPORT_WORLD_H
#define IMPORT_WORLD_H

#include "tools/mcpx-bridge/import.h"

/** One step. `in` may begin with "log " to compare the log as well. */
struct step {
    const char *in;
    const char *out;
};

/** Plays the steps, ended by one without `in`, on a new import; reports each that differs. */
void play(const struct step *steps);

/** The same with other settings. */
void play_with(const struct import_config *config, const struct step *steps);

#endif
