/*
 * import_world.h - an import between a topic and a server that are both played by a transcript.
 *
 * Its transcripts are tests/unit/tools/import/NAME.txt (player.h). The settings are capabilities,
 * roots, ask, request_ms, wait_bytes, answers_max, calls_max, protocol, once, topics, isolate,
 * idle_ms, terms. Under terms ids are deterministic; mallory may call no tool.
 *
 * What happens:
 * A verb may end with the number of a server or topic, where it is not 0: "request/1" is in
 * topic 1, "start/2" and what comes of it are about server 2.
 *
 *   start                     the process runs
 *   ready                     the same, and it is initialised the old way; what the import does
 *                             on the way is not compared. The next number on the pipe is 3
 *   server TEXT               the server writes a line
 *   request WHO ENVELOPE RPC  a participant asks; "+" in WHO is a space
 *   fulfil WHO ENVELOPE RPC   the same, and it fulfils a proposal of pam
 *   notify WHO ABOUT RPC      a participant notifies; ABOUT "-" = no correlation, "own" = about a
 *                             question of ours
 *   lie WHO ENVELOPE RPC      a request whose kind says tools/call:safe and is not true
 *   answer TAG RPC            a participant answers a question of the server
 *   expired TAG, refused TAG  what else may become of it
 *   left WHO, came WHO        a participant leaves, comes
 *   down SIGNAL, gone CODE    the server dies and comes back, or is gone for good
 *   gone-once CODE            it exits and comes back
 *   failed                    it cannot be executed
 *   stopped                   it was stopped, and has ended
 *   questions N               the server asks so many questions; what is done is not compared
 *   subscribe N               mallory subscribes to f:///0 and so many in all, after "ready";
 *                             likewise
 *   end                       we are in the topic no longer
 *   barren                    processes cannot be had any more
 *   deaf, listening           the child does not take lines, or does again
 *   narrow BYTES              the router takes no longer messages
 *   nochat                    we may not chat
 *   mute                      we may not say anything
 *   full                      there is no room for the next answer
 *   busy N                    the session has not sent N messages; below 64 it is given more
 *   slow                      the router takes 60 messages and 60000 bytes a minute of us
 *   long ID BYTES             the server answers with a result of so many bytes; from then on only
 *                             the size of long answers is compared
 *   state ID BYTES            it wants input, without questions, with so long a requestState
 *   rounds ID N               the same N times for a call, from that number on; not compared
 *   flood N                   the server sends so many notifications n0, n1, ... to everybody
 *   wait MS                   time passes
 *   why                       is there use in going on?
 *   log ...                   any of these; what is logged is compared as well
 *
 * What the import does:
 *   child TEXT                to the server
 *   reply ENVELOPE RPC        answers a request
 *   drop ENVELOPE             will not answer it
 *   say KIND to=WHO about=ENVELOPE tag=N RPC
 *                             sends; parts that are absent are left out
 *   forget ID, kill, why TEXT, log TEXT
 *   start/N for WHO, stop/N   one more process is wanted, or not any more
 *   event NAME TOOL ..., validation TOOL STATUS CAUSE   a record of a call under terms, in short
 */
#ifndef IMPORT_WORLD_H
#define IMPORT_WORLD_H

#include "tools/mcpx-bridge/import/pool.h"

struct world;

/** A world with a new import in it, under these terms; NULL: none. */
struct world *world_new(const struct import_config *config, const char *terms);

/** Frees it. NULL is allowed. */
void world_free(struct world *world);

/** Lets something happen; returns what the import did, a line each, lent until the next call. */
const char *world_happen(struct world *world, const char *in);

#endif
