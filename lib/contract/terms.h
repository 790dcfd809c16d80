/*
 * terms.h - contract settings in memory, with all defaults filled in; and aliases, the tool of the
 * handshake, contexts, and the tools of a server.
 */
#ifndef MX_TERMS_H
#define MX_TERMS_H

#include "lib/base/arena.h"
#include "lib/json/digest.h"

#include <mcpx/schema.h>
#include <mcpx/terms.h>
#include <mcpx/wrap.h>

/** The treatment of a call that violates a schema. */
enum mx_validate { MX_VALIDATE_ENFORCE = 0, MX_VALIDATE_SHADOW, MX_VALIDATE_OFF };

/** The treatment of a call without a context. IGNORE: contexts are not read. */
enum mx_context_policy { MX_CONTEXT_IGNORE = 0, MX_CONTEXT_REQUIRE, MX_CONTEXT_DEFAULT };

/** The contract settings of one tool. */
struct mx_tool_terms {
    struct mcpx_slice name;
    enum mcpx_form form;            /* its own, or that of all tools */
    enum mcpx_tier needed;          /* the lowest tier with access */
    struct mcpx_slice version;      /* absent: not set */
    struct mcpx_slice capabilities; /* JSON array of strings; absent: none */
};

/** The context of calls. */
struct mx_context_terms {
    enum mx_context_policy policy;
    /* Where the server reads it: a member of params, `_meta` or `arguments`, and its name there. */
    const char *place;
    const char *name;
    /* JSON object: members that replace those of a made context; absent: none. */
    struct mcpx_slice values;
};

/** Contract settings. */
struct mcpx_terms {
    struct mx_arena arena;
    enum mx_validate validate;
    enum mcpx_tier tier;
    /* For tools without settings of their own; its name is absent. */
    struct mx_tool_terms all;
    struct mx_tool_terms *tools; /* with settings of their own */
    size_t tool_count;
    size_t input_max;  /* bytes of arguments; 0: no bound */
    size_t output_max; /* bytes of a result; 0: no bound */
    size_t schema_max; /* bytes of a participant's compiled schemas; 0: no bound */
    struct mx_context_terms context;
    bool has_handshake;
    /* Its answer, without the tools: the server has these. Aliases, their fixture's version and
     * namespaces apply without a handshake, too. */
    struct mcpx_handshake handshake;
    const char *log_dir; /* NULL: no log */
    size_t log_keep;
    size_t log_bytes;
};

/** The contract settings of a tool. */
const struct mx_tool_terms *mx_terms_of(const struct mcpx_terms *terms,
                                        struct mcpx_slice tool);

/**
 * Finds the tool that a caller's name means: the tool of this name, else the tool of this alias. An
 * alias of an alias is not resolved.
 *
 * tools   of the server
 *
 * Returns its name at the server, or absent. Lent by the terms or by `name`.
 */
struct mcpx_slice mx_alias_find(const struct mcpx_terms *terms, const struct mcpx_tools *tools,
                                struct mcpx_slice name);

/**
 * The handshake's entry in `tools/list`. Its only argument is the context, if the settings place
 * that among the arguments. Static.
 */
const char *mx_handshake_tool(const struct mcpx_terms *terms);

/**
 * Appends the result of the handshake.
 *
 * tools         of the server
 * participant   of the enforcement point
 *
 * Returns MCPX_OK or MCPX_ENOMEM; on failure `out` keeps its content.
 */
enum mcpx_err mx_handshake_result(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  const struct mcpx_tools *tools,
                                  struct mcpx_slice participant);

/**
 * Appends a context for a call without one.
 *
 * request_id, trace_id   unless the settings have other values
 */
void mx_context_make(struct mcpx_text *out, const struct mcpx_terms *terms,
                     struct mcpx_slice request_id, struct mcpx_slice trace_id);

/** True when a tool has exactly this name. */
bool mx_tools_has(const struct mcpx_tools *tools, struct mcpx_slice name);

/** The digest of all added pages; equal pages give equal digests. Lent. */
const unsigned char *mx_tools_digest(const struct mcpx_tools *tools);

#endif
