/*
 * gate.h - a server that is asked whether it may be released: what its items share. Each item asks
 * one question and has a file of its own, or shares one with its neighbour.
 */
#ifndef MCPXCTL_GATE_H
#define MCPXCTL_GATE_H

#include "tools/mcpxctl/core/live.h"

#include <mcpx/contract.h>

/** Bytes of an id of gate_make_id, with its NUL. */
enum { GATE_ID_SIZE = 48 };

/** What an item came to; SKIP: it was not asked, because something is missing. */
enum gate_verdict { GATE_PASS, GATE_FAIL, GATE_SKIP };

/**
 * A gate at work.
 *
 * folder      with what the server's answers are compared with
 * handshake   the server's, once gate_fetch_handshake was asked; empty: there is none
 * context     a valid one from the folder, for calls that are about something else; empty: none
 * tools       the server's list, a JSON array, once gate_fetch_tools was asked
 * called      ids of calls that an edge has to have written down, each ended by a newline
 * report      the lines so far, as --json prints them
 * status      why the gate cannot go on, having complained; STATUS_OK: it can
 */
struct gate {
    const struct arguments *arguments;
    const char *folder;
    struct live live;
    struct mcpx_shelf *shelf;
    struct mcpx_contracts *contracts;
    struct mcpx_schema_report judged;
    struct mcpx_text handshake;
    bool has_asked_for_handshake;
    struct mcpx_text context;
    struct mcpx_text tools;
    struct mcpx_text called;
    struct mcpx_text report;
    int status;
};

/*
 * The items. Each appends a detail, a phrase for people, and returns its verdict. When `status` is
 * no longer STATUS_OK the verdict does not count.
 */
enum gate_verdict gate_item_handshake(struct gate *gate, struct mcpx_text *detail);
enum gate_verdict gate_item_context(struct gate *gate, struct mcpx_text *detail);
enum gate_verdict gate_item_aliases(struct gate *gate, struct mcpx_text *detail);
enum gate_verdict gate_item_telemetry(struct gate *gate, struct mcpx_text *detail);
enum gate_verdict gate_item_drift(struct gate *gate, struct mcpx_text *detail);
enum gate_verdict gate_item_sbom(struct gate *gate, struct mcpx_text *detail);
enum gate_verdict gate_item_evidence(struct gate *gate, struct mcpx_text *detail);

/** Reads the first valid context of the folder. Returns a status. */
int gate_read_context(struct gate *gate);

/** Appends a file. Returns false, having appended to `detail` why, or with a `status`. */
bool gate_read_file(struct gate *gate, const char *path, struct mcpx_text *out,
                    struct mcpx_text *detail);

/**
 * Reads a JSON document.
 *
 * text    appended to; the caller frees it
 * value   filled with the document, lent by `text`
 *
 * Returns false, having appended to `detail` why, or with a `status`.
 */
bool gate_read(struct gate *gate, const char *path, struct mcpx_text *text,
               struct mcpx_slice *value, struct mcpx_text *detail);

/** Writes a file anew. Returns false, having appended to `detail` why. */
bool gate_write(const char *path, struct mcpx_slice text, struct mcpx_text *detail);

/** Judges a document by a contract. False, with the first fault appended, when it breaks it. */
bool gate_keeps(struct gate *gate, enum mcpx_contract contract, struct mcpx_slice text,
                struct mcpx_text *detail);

/** Makes an id that nobody used before. Returns false with a `status`. */
bool gate_make_id(struct gate *gate, char id[GATE_ID_SIZE]);

/**
 * Appends the `_meta` of a call that is not about the context: it has this request id, and the
 * context of the folder where there is one.
 */
void gate_meta(const struct gate *gate, const char *id, struct mcpx_text *out);

/**
 * Calls a tool and waits for the response.
 *
 * arguments   any JSON
 * meta        a JSON object
 * response    emptied, then filled with the JSON-RPC response
 *
 * Returns false with a `status` when there is none.
 */
bool gate_call(struct gate *gate, struct mcpx_slice tool, struct mcpx_slice arguments,
               struct mcpx_slice meta, struct mcpx_text *response);

/** Asks for the handshake, once. Returns false with a `status`. */
bool gate_fetch_handshake(struct gate *gate);

/** Asks for the list of tools, all pages. Returns false with a `status`. */
bool gate_fetch_tools(struct gate *gate);

#endif
