/*
 * config.h - the settings of mcpx-router: defaults, file, environment, flags, in that order.
 * The keys, ranges and defaults are docs/configuration.md; one table in config_table.c is their
 * only other place.
 */
#ifndef POLICY_CONFIG_H
#define POLICY_CONFIG_H

#include "router/hub/hub.h"
#include "router/policy/grants/grant_list.h"
#include "router/store/commit/stage.h"

struct json_t;
struct tokens;

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/** Digits that name a policy. */
enum { CONFIG_REV_LEN = 16 };

/** Messages are kept by this process alone, or in a SQLite file. */
enum store_kind { STORE_KIND_MEMORY, STORE_KIND_SQLITE };

/** Where messages are kept. */
struct store_settings {
    enum store_kind kind;
    char *file;          /* resolved path; "" for STORE_KIND_MEMORY */
    bool normal;         /* a commit does not wait for the disk */
    bool check;          /* the whole file is checked at the start */
    uint64_t file_bytes; /* limit of the file's size; 0 = no limit */
    /* Quota of a participant; 0 = a quarter of file_bytes, or 1 GiB if that is 0. */
    uint64_t bytes_per_participant;
};

/** "127.0.0.1:8080", "[::1]:0", "tls://a:443" taken apart. `host` is without brackets. */
struct config_listen {
    char *host;
    char *port;
    bool tls;
};

/**
 * A network: an IPv6 address, or an IPv4 address in its IPv6 form (::ffff:a.b.c.d), and the length
 * of its prefix in bits.
 */
struct config_network {
    unsigned char bytes[16];
    unsigned bits;
};

/**
 * Reads an address without port, brackets and prefix into the bytes of a network. Returns false for
 * other text.
 */
bool config_read_address(struct mcpx_slice text, unsigned char bytes[16]);

/** How a proxy reports the client address. */
enum proxy_address { PROXY_X_FORWARDED_FOR, PROXY_FORWARDED, PROXY_PROTOCOL };

/** A name in a client's certificate ("dns:a.example"), and its participant. */
struct tls_name {
    char *name;
    char *participant;
};

/**
 * Files of TLS, in PEM: the chain; its key; the client CAs, "" = clients are not asked for a
 * certificate; the CRLs of these CAs, "" = none.
 */
enum tls_file { TLS_CERTIFICATE, TLS_KEY, TLS_CLIENT_CA, TLS_CLIENT_CRL, TLS_FILES };

/** TLS of addresses with tls://. */
struct tls_settings {
    bool wanted;            /* an address has tls:// */
    char *files[TLS_FILES]; /* paths as they can be opened */
    /* `names`, `name_count`: sorted by name. */
    struct tls_name *names;
    size_t name_count;
    bool only_1_3; /* nothing older than TLS 1.3 */
};

/** All settings, validated. */
struct config {
    /* `listen`, `listen_count`: where to accept connections; at least one. */
    struct config_listen *listen;
    size_t listen_count;
    /* Default addresses: an address that this machine lacks is left out. */
    bool listen_default;
    /* Default limit of connections: a lower limit of the machine is not an error. */
    bool connections_default;
    struct tls_settings tls; /* of addresses with tls:// */
    /* `proxies`, `proxy_count`: networks of trusted proxies; the router believes the client
     * addresses they report. */
    struct config_network *proxies;
    size_t proxy_count;
    enum proxy_address proxy_address; /* how they report it */
    bool dev;                         /* --dev was given */
    bool query_token;                 /* ?token= is accepted */
    /* Patterns ("http://localhost:*") of allowed Origin headers; a request without Origin is
     * always allowed. */
    struct names origins;
    struct hub_config hub;   /* the hub's settings */
    uint64_t connects_per_s; /* connection attempts per second of one address; 0 = no limit */
    /* Requests and connection attempts of one participant; 0 = no limit. */
    uint64_t requests_per_minute;
    int64_t grant_max_ms; /* how long a grant given at run time may last; 0 = no limit */
    size_t tickets_each;  /* unused tickets of one participant; 0 = no limit */
    int64_t drain_ms;     /* how long a shutdown may take */
    /* `store`, `audit`: where messages are kept, and the record of decisions, without `rev`. */
    struct store_settings store;
    struct audit_config audit;
    /* Names the policy; equal profiles and participants have equal names. */
    char rev[CONFIG_REV_LEN + 1];
    enum log_level log_level;
    enum log_format log_format;
    /* Every setting as it was read, by its JSON pointer, for config_compare; a secret as its
     * SHA-256. */
    struct json_t *values;
    struct tokens *tokens; /* participants that may connect */
    /* Settings that are valid but are probably mistakes, one per line; "" if none. */
    struct mcpx_text warnings;
};

/** The input of config_load. */
struct config_sources {
    const char *file; /* --config, or NULL */
    /* --listen values, each "HOST:PORT"; replaces the file's list when there are any. */
    const char *const *listen;
    size_t listen_count;
    bool dev; /* --dev */
    /* "NAME=value" strings, NULL-terminated, as `environ`; NULL = none. */
    const char *const *environment;
    struct chance chance; /* for the random secret of dev mode */
    int64_t wall_ms; /* warnings compare the expiry of grants with this instant; 0 = now */
    /* The active configuration, at a reload; NULL = none. Equal parts are shared with it
     * (tokens_take_shared), and dev mode keeps its key. Another thread may read it meanwhile, but
     * not change it. */
    const struct config *before;
};

/**
 * Reads and validates the settings.
 *
 * errors   one line per error, all errors: source, JSON pointer or variable, found value, allowed
 *          values. Never holds a secret
 * out      filled on success, to be released with config_fini; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ECONFIG with `errors`, or MCPX_ENOMEM.
 */
enum mcpx_err config_load(const struct config_sources *sources, struct mcpx_text *errors,
                          struct config *out);

/**
 * Compares two configurations, setting by setting; profiles and participants are left to
 * difference_find.
 *
 * errors    gets a line for each changed setting that requires a restart: name, both values
 * changes   gets a JSON array of the other changed settings: {"setting":POINTER,"was":…,"now":…};
 *           without values for a secret, a list of objects and a map
 *
 * Returns false when a restart is needed.
 */
bool config_compare(const struct config *before, const struct config *after,
                    struct mcpx_text *errors, struct mcpx_text *changes);

/** Frees what config_load filled in. A zeroed config is allowed. */
void config_fini(struct config *config);

/**
 * Appends a capability pattern with the typing errors in its type and method corrected: an extra
 * letter, a missing one, a wrong one, two exchanged ones, or the wrong case. It is compared with
 * the types of the protocol and the methods of MCP. A component is right when it covers one of
 * them. It is right, too, when its number of segments differs or it resembles none, because any
 * kind is legal. In up to three letters only the case is corrected; in four, also two exchanged
 * letters; in up to eleven, one error of any sort; in more, two. Components of more than 64 bytes
 * are not changed.
 *
 * pattern   valid
 *
 * Returns true when it has corrected something. Protocol: section 2.
 */
bool kind_typo_mend(struct mcpx_slice pattern, struct mcpx_text *out);

/** Appends a warning of typing errors in the pattern of `what`, "grant" or "denial". Returns false
 * when there are none. */
bool kind_typo_warn(const char *what, struct mcpx_slice pattern, struct mcpx_text *out);

#endif
