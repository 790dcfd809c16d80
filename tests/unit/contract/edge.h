/*
 * edge.h - an edge on a stage: a transcript in a text file says what comes to it, line by line, and
 * what it makes of that.
 *
 *     == R004-9 what the scene is about
 *     terms {...}             of this scene; {} without
 *     side client             that of a server without
 *     tools [...]             of the server; before the first scene: of all of them
 *     tools none              the server is not there
 *     version TEXT            of the server, as it says
 *     may NAME                only this tool may be called
 *     fulfils ID              the call fulfils a proposal
 *     own {...}               params as the edge would pass them on
 *     call {...}              params of a tools/call
 *     message {...}           a whole message
 *     later MS                time passes
 *     room BYTES              that the answer may have
 *     result {...}            the server's
 *     repeat N TEXT {...}     the server's result, with the text so many times in the place of its
 *                             @
 *     error {...}             the server's
 *     failed CAUSE ["reason"[,{...}]]
 *     refused {...}           a person said no
 *
 * Lines with two spaces before them are what the edge does:
 *
 *     pass TOOL [PARAMS]      params when they are other ones
 *     answer TEXT             a result; "same" when it is the server's, byte by byte
 *     wrapped [!] TEXT        a result of the edge, of which this is structuredContent; ! when
 *                             isError is true
 *     error TEXT
 *     alias NAME -> TOOL      mcp.alias.call
 *     called TOOL             mcp.tool.call
 *     ended STATUS [CODE]     mcp.tool.result
 *     line STATUS ...         validation: tool, cause and path, bytes in and out
 */
#ifndef EDGE_H
#define EDGE_H

/** Plays a transcript. Fails the test at each line that differs. */
void edge_play(const char *name);

#endif
