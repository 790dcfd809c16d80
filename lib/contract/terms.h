/*
 * terms.h - contract settings as calls use them: each member in its place, each default filled in.
 * Calls ask here for aliases, the tool of the handshake, contexts, and the tools of a server.
 */
#ifndef MX_TERMS_H
#define MX_TERMS_H

#include "lib/base/arena.h"
#include "lib/json/digest.h"

#include <mcpx/schema.h>
#include <mcpx/terms.h>
#include <mcpx/wrap.h>

/** What becomes of a call that breaks a schema. */
enum mx_validate { MX_VALIDATE_ENFORCE = 0, MX_VALIDATE_SHADOW, MX_VALIDATE_OFF };

/** What becomes of a call without a context. IGNORE: nobody looks for one. */
enum mx_context_policy { MX_CONTEXT_IGNORE = 0, MX_CONTEXT_REQUIRE, MX_CONTEXT_DEFAULT };

/** The terms of one tool. */
struct mx_tool_terms {
    struct mcpx_slice name;
    enum mcpx_form form;            /* that of all tools, unless it has one of its own */
    enum mcpx_tier needed;          /* the lowest tier that may use it */
    struct mcpx_slice version;      /* absent: the terms say none */
    struct mcpx_slice capabilities; /* JSON array of strings; absent: none */
};

/** The context of calls. */
struct mx_context_terms {
    enum mx_context_policy policy;
    /* Where the server looks for it: a member of params, `_meta` or `arguments`, and its own
     * name there. */
    const char *place;
    const char *name;
    /* JSON object: members of a context that is made; absent: none. */
    struct mcpx_slice values;
};

/** Terms. */
struct mcpx_terms {
    struct mx_arena arena;
    enum mx_validate validate;
    enum mcpx_tier tier;
    /* Of the tools that have no terms of their own; its name is absent. */
    struct mx_tool_terms all;
    struct mx_tool_terms *tools; /* of the others */
    size_t tool_count;
    size_t input_max;  /* bytes of arguments; 0: no bound */
    size_t output_max; /* bytes of a result; 0: no bound */
    size_t schema_max; /* bytes of a participant's compiled schemas; 0: no bound */
    struct mx_context_terms context;
    bool has_handshake;
    /* Its tools are the server's. Aliases, the version of their fixture, and namespaces count
     * without it, too. */
    struct mcpx_handshake handshake;
    const char *log_dir; /* NULL: there is no log */
    size_t log_keep;
    size_t log_bytes;
};

/** The terms of a tool. */
const struct mx_tool_terms *mx_terms_of(const struct mcpx_terms *terms,
                                        struct mcpx_slice tool);

/**
 * The tool that a name stands for, by the name that its server has for it: a tool of this name,
 * else the tool that it is an alias of. An alias of an alias is none.
 *
 * tools   of the server
 *
 * Absent when there is none. Lent by the terms or by `name`.
 */
struct mcpx_slice mx_alias_find(const struct mcpx_terms *terms, const struct mcpx_tools *tools,
                                struct mcpx_slice name);

/**
 * Its entry in `tools/list`. It has no arguments but the context, where terms say that this is one.
 * Static.
 */
const char *mx_handshake_tool(const struct mcpx_terms *terms);

/**
 * Appends its result.
 *
 * tools         of the server
 * participant   that the edge is
 *
 * Returns MCPX_OK or MCPX_ENOMEM; on failure `out` keeps its content.
 */
enum mcpx_err mx_handshake_result(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  const struct mcpx_tools *tools,
                                  struct mcpx_slice participant);

/**
 * Appends the context of a call that has none.
 *
 * request_id, trace_id   unless the terms have other values
 */
void mx_context_make(struct mcpx_text *out, const struct mcpx_terms *terms,
                     struct mcpx_slice request_id, struct mcpx_slice trace_id);

/** True when a tool has exactly this name. */
bool mx_tools_has(const struct mcpx_tools *tools, struct mcpx_slice name);

/** The digest of all pages that were added: what is made of the same tools has the same. Lent. */
const unsigned char *mx_tools_digest(const struct mcpx_tools *tools);

#endif
