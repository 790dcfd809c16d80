/*
 * http_head.h - the head of an HTTP/1.1 message, read once and strictly: where it ends, its first
 * line, its fields. RFC 9112.
 */
#ifndef MX_HTTP_HEAD_H
#define MX_HTTP_HEAD_H

#include <mcpx/base.h>
#include <mcpx/text.h>

/** The longest head, in bytes, and the most fields. */
enum { MX_HTTP_HEAD_MAX = 16384, MX_HTTP_FIELDS_MAX = 100 };

/** An error of a request or an answer. Static. */
struct mx_http_fault {
    int status;         /* to answer with */
    const char *detail; /* a sentence for people */
    const char *header; /* one more header line of the answer, with its CRLF; NULL = none */
};

/** The standard's phrase for a status; an unknown one has the phrase of 500. */
const char *mx_http_phrase(int status);

/** How far the end of a head was looked for. Zero-initialised is the beginning. */
struct mx_http_scan {
    size_t at;    /* private */
    size_t lines; /* private: lines that have ended, without an empty one before the first */
    size_t begin; /* private: where the line at hand begins */
};

/**
 * Looks for the end of a head, from where the last look ended.
 *
 * bytes   all received so far
 * len     filled: the length of the head, with the empty line; 0 while that is still to come
 *
 * Returns NULL, or the first error: a CR without LF, an LF without CR, a control character, or a
 * head longer than MX_HTTP_HEAD_MAX.
 */
const struct mx_http_fault *mx_http_scan(struct mx_http_scan *scan, struct mcpx_slice bytes,
                                         size_t *len);

/** A field. The value stands without the blanks around it; it may hold bytes from 0x80 on. */
struct mx_http_field {
    struct mcpx_slice name;
    struct mcpx_slice value;
};

/** A head; all slices are borrowed from the bytes it was read from. */
struct mx_http_head {
    /* `method`, `target`: of a request. The target begins with '/', or is "*" for OPTIONS. The host
     * of an absolute form is cut off. It is still percent-encoded. */
    struct mcpx_slice method;
    struct mcpx_slice target;
    int status;      /* of an answer, 100 to 999 */
    int minor;       /* the version is HTTP/1.`minor`, 0 or 1 */
    bool has_length; /* there is a Content-Length */
    bool is_chunked; /* of a request: its body comes in chunks (struct mx_http_chunks) */
    uint64_t length; /* the Content-Length; 0 without one */
    size_t count;
    struct mx_http_field fields[MX_HTTP_FIELDS_MAX];
};

/**
 * Reads the head of a request.
 *
 * head   whole, as mx_http_scan found it
 *
 * Returns NULL, or the first error: the request line; a version other than 1.0 and 1.1; a bad field
 * name, or a blank behind it; a folded line; no Host (except in HTTP/1.0), two, or an invalid one;
 * a Transfer-Encoding; a Content-Length other than one decimal number.
 */
const struct mx_http_fault *mx_http_request_read(struct mcpx_slice head,
                                                 struct mx_http_head *out);

/** Reads the head of an answer: its status line and fields. As mx_http_request_read. */
const struct mx_http_fault *mx_http_answer_read(struct mcpx_slice head,
                                                struct mx_http_head *out);

/**
 * How many fields have that name, in any letter case; `value` is filled with the first one's, and
 * is absent when there is none.
 */
size_t mx_http_find(const struct mx_http_head *head, const char *name,
                    struct mcpx_slice *value);

/** True when a field of that name, a comma-separated list, holds the word, in any letter case. */
bool mx_http_lists(const struct mx_http_head *head, const char *name, const char *word);

/** True when there is just one field of that name and its value is `text`, in any letter case. */
bool mx_http_is(const struct mx_http_head *head, const char *name, const char *text);

/* ---- the small grammar that lines are made of. RFC 9110 section 5.6 ---- */

/** Visible ASCII, one character at least: what a credential may be. */
bool mx_http_is_visible(struct mcpx_slice text);

/*
 * ---- a body as it arrives: one with a length, or one in chunks, as proxies send what came to them
 * by HTTP/2, read as strictly as a head, extensions and trailers read over. RFC 9112 section 7.1.
 */

/**
 * The state of reading. Zero-initialised is the beginning of a body in chunks.
 *
 * is_one  private: the body has a length and no chunks
 * is_done the whole body was read; what follows is not looked at
 */
struct mx_http_chunks {
    int at;          /* private */
    unsigned digits; /* private: of the size at hand */
    /* Private: bytes that are not of the body; no more than it has, and MX_HTTP_HEAD_MAX. */
    size_t around;
    /* Bytes of the chunk at hand that are still to come, at most 2^32 - 1; or of the body. */
    uint64_t left;
    bool is_one, is_done;
};

/** The beginning of the body that a head says there is. */
struct mx_http_chunks mx_http_body(const struct mx_http_head *head);

/**
 * Takes the next bytes of a body, and adds the content to `body`. Bytes behind the body stay in
 * `bytes`. The caller bounds `body->len + left`, and looks at `body->failed`.
 *
 * Returns NULL, or the error; then no more may be taken.
 */
const struct mx_http_fault *mx_http_chunks_take(struct mx_http_chunks *chunks,
                                                struct mcpx_slice *bytes,
                                                struct mcpx_text *body);

#endif
