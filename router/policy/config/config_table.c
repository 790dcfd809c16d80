/*
 * config_table.c - every setting of the router, once: its place in the file, its range, its
 * default, its meaning, and its member in the settings. docs/configuration.md and
 * config/router.schema.json repeat these rows for people and editors, and a test compares them.
 */
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"

/* Where a value is stored, and whether a reload changes it. What is stored elsewhere, it does. */
#define PLACE(member) offsetof(struct settings, member), sizeof(((struct settings *)0)->member)
#define AT(member) PLACE(member), false
#define LIVE(member) PLACE(member), true
#define NOWHERE 0, 0, true
#define NO_LIMIT "no limit"
#define QUARTER "a quarter of the memory there is"
#define QUARTER_OF_FILE "a quarter of store.file_bytes, or 1 GiB without that"
#define TEN_YEARS_S 315360000

static const char *const duplicate_choices[] = {"reject", "takeover", NULL};
static const char *const routing_choices[] = {"all", "directed", NULL};
static const char *const store_choices[] = {"memory", "sqlite", NULL};
static const char *const durability_choices[] = {"full", "normal", NULL};
static const char *const full_choices[] = {"refuse", "block", "drop", NULL};
static const char *const version_choices[] = {"1.2", "1.3", NULL};
static const char *const proxy_choices[] = {"x-forwarded-for", "forwarded", "proxy-protocol",
                                            NULL};
static const char *const level_choices[] = {"error", "warn", "info", "debug", NULL};
static const char *const format_choices[] = {"text", "json", NULL};
static const char *const exp_choices[] = {"required", "optional", NULL};
static const char *const jwt_choices[] = {"refused", "accepted", NULL};
static const char *const alg_choices[] = {"HS256", "HS384", "HS512", "RS256", "RS384",
                                          "RS512", "PS256", "PS384", "PS512", "ES256",
                                          "ES384", "ES512", "EdDSA", NULL};

/* Rows of one type differ in the columns that are left. */
#define BOOL(pointer, fallback, at, help)                                                     \
    {                                                                                         \
        pointer, SETTING_BOOL, 0, 0, "", 1, NULL, fallback, "", help, at                      \
    }
#define INTEGER(pointer, min, max, zero, fallback, unit, at, help)                            \
    {                                                                                         \
        pointer, SETTING_INTEGER, min, max, zero, 1, NULL, fallback, unit, help, at           \
    }
#define SECONDS(pointer, min, max, zero, fallback, at, help)                                  \
    {                                                                                         \
        pointer, SETTING_INTEGER, min, max, zero, 1000, NULL, fallback, "seconds", help, at   \
    }
#define CHOICE(pointer, choices, fallback, at, help)                                          \
    {                                                                                         \
        pointer, SETTING_CHOICE, 0, 0, "", 1, choices, fallback, "", help, at                 \
    }
#define SIZED(pointer, type, min, max, fallback, at, help)                                    \
    {                                                                                         \
        pointer, type, min, max, "", 1, NULL, fallback, "", help, at                          \
    }

const struct setting settings_table[] = {
    SIZED("/$schema", SETTING_STRING, 0, 4095, NULL, NOWHERE,
          "Where an editor finds router.schema.json; the router does not look at it"),
    SIZED("/listen", SETTING_STRINGS, 1, 16, "[\"127.0.0.1:8080\", \"[::1]:8080\"]",
          AT(listen),
          "Where connections are accepted, each HOST:PORT, or tls://HOST:PORT for TLS; port 0 "
          "lets the system choose, host * means every address"),
    SIZED("/trusted_proxies", SETTING_STRINGS, 0, 64, "[]", LIVE(proxies),
          "Addresses or networks (192.0.2.0/24) of proxies that are believed when they say "
          "whom a connection is from"),
    CHOICE("/proxy_address", proxy_choices, "\"x-forwarded-for\"", LIVE(config.proxy_address),
           "How they say it: by a header, or by the PROXY protocol, which then has to precede "
           "everything"),
    SIZED(
        "/tls/certificate_file", SETTING_STRING, 0, 4095, "\"\"",
        AT(config.tls.files[TLS_CERTIFICATE]),
        "The router's certificate and those between it and its authority, in PEM; read again "
        "when it changes"),
    SIZED(
        "/tls/key_file", SETTING_STRING, 0, 4095, "\"\"", AT(config.tls.files[TLS_KEY]),
        "The key of the certificate, in PEM without a passphrase; read again when it changes"),
    SIZED("/tls/client_ca_file", SETTING_STRING, 0, 4095, "\"\"",
          AT(config.tls.files[TLS_CLIENT_CA]),
          "Authorities that sign certificates of clients, in PEM; empty means that clients "
          "are not asked for one"),
    SIZED("/tls/client_crl_file", SETTING_STRING, 0, 4095, "\"\"",
          AT(config.tls.files[TLS_CLIENT_CRL]),
          "Revocation lists of the authorities of client_ca_file, in PEM; read again when it "
          "changes; empty means that nothing is revoked"),
    SIZED("/tls/client_names", SETTING_MAP, 0, 100000, "{}", NOWHERE,
          "Names in certificates of clients, each with the participant that it stands for"),
    SIZED("/tls/client_names/*", SETTING_STRING, 1, 256, NULL, NOWHERE,
          "Id of the participant; NAME is dns:, uri: or email: with an alternative name, or "
          "cn: with the common name"),
    CHOICE("/tls/min_version", version_choices, "\"1.2\"", AT(config.tls.only_1_3),
           "The oldest version of TLS that is spoken"),

    CHOICE(
        "/auth/duplicate", duplicate_choices, "\"takeover\"", LIVE(config.hub.takeover),
        "What a second connection of a participant in a topic does: replace the first or be "
        "refused"),
    INTEGER(
        "/auth/instances", 1, INSTANCES_MAX, "", "8", "instances", LIVE(config.hub.instances),
        "Connections of one participant to one topic at one time, for those that ask for an "
        "instance; 64 in development mode"),
    BOOL("/auth/query_token", "false", LIVE(config.query_token),
         "Accept a token as ?token=, where proxies and browsers may record it"),
    SIZED(
        "/auth/origins", SETTING_STRINGS, 0, 64,
        "[\"http://localhost:*\", \"http://127.0.0.1:*\", \"http://[::1]:*\"]",
        LIVE(config.origins),
        "Patterns of Origin headers that web pages may connect from; requests without Origin "
        "are always allowed"),
    SIZED("/auth/jwt/issuer", SETTING_STRING, 0, 1024, "\"\"", LIVE(issuer),
          "What the iss claim has to be; empty means it is not looked at"),
    SIZED("/auth/jwt/audience", SETTING_STRING, 0, 1024, "\"\"", LIVE(audience),
          "What the aud claim has to be or contain; empty means it is not looked at"),
    SIZED(
        "/auth/jwt/secret", SETTING_SECRET, 0, 4096, "\"\"", LIVE(secret),
        "One HS256 key without kid, for the simplest case; better kept in the environment or "
        "in secret_file"),
    SIZED("/auth/jwt/secret_file", SETTING_STRING, 0, 4095, "\"\"", LIVE(secret_file),
          "File that holds what secret would"),
    CHOICE("/auth/jwt/exp", exp_choices, "\"required\"", LIVE(exp_optional),
           "Whether tokens signed with secret or secret_file have to say when they end; those "
           "that do not are good for ever"),
    SIZED("/auth/jwt/jwks_file", SETTING_STRING, 0, 4095, "\"\"", LIVE(jwks_file),
          "File with a JSON Web Key Set of public keys, read again when it changes"),
    SIZED("/auth/jwt/keys", SETTING_LIST, 0, 64, "[]", NOWHERE,
          "Keys that sign JSON Web Tokens"),
    SIZED("/auth/jwt/keys/*/kid", SETTING_STRING, 1, 256, NULL, NOWHERE,
          "Name of the key; a key without one is tried for every token of its algorithm"),
    CHOICE("/auth/jwt/keys/*/alg", alg_choices, NULL, NOWHERE,
           "The only algorithm the key is used with; required"),
    SIZED("/auth/jwt/keys/*/secret", SETTING_SECRET, 16, 4096, NULL, NOWHERE,
          "The key itself, for HS256, HS384 and HS512; give this or secret_file"),
    SIZED("/auth/jwt/keys/*/secret_file", SETTING_STRING, 1, 4095, NULL, NOWHERE,
          "File that holds the key, relative to the directory of the configuration file; one "
          "newline at its end is left out"),
    SIZED("/auth/jwt/keys/*/public_key_file", SETTING_STRING, 1, 4095, NULL, NOWHERE,
          "File that holds the public key, in PEM or as a JSON Web Key, read again when it "
          "changes; for algorithms other than HS256, HS384 and HS512"),
    CHOICE(
        "/auth/jwt/keys/*/exp", exp_choices, NULL, NOWHERE,
        "Whether tokens signed with the key have to say when they end; required when absent"),

    SIZED("/profiles", SETTING_MAP, 0, 4096, "{}", NOWHERE, "Named lists of grants"),
    SIZED("/profiles/*/grants", SETTING_GRANTS, 0, 1024, "[]", NOWHERE,
          "What may be sent: patterns, or objects with kind, to and expires"),
    SIZED("/profiles/*/deny", SETTING_PATTERNS, 0, 1024, "[]", NOWHERE,
          "Patterns of what may not be sent, whatever is granted"),
    CHOICE("/profiles/*/routing", routing_choices, NULL, NOWHERE,
           "How its participants read: everything, or only what is addressed to them or to "
           "nobody; the topic decides when absent"),

    SIZED("/participants", SETTING_MAP, 0, 100000, "{}", NOWHERE,
          "Participants that come with a token of their own, by id"),
    SIZED("/participants/*/token_sha256", SETTING_SHA256, 64, 64, NULL, NOWHERE,
          "SHA-256 of the token in hexadecimal; required"),
    SIZED("/participants/*/topics", SETTING_STRINGS, 0, 1024, "[]", NOWHERE,
          "Patterns of the topics it may join, where * stands for any bytes"),
    SIZED("/participants/*/profile", SETTING_STRING, 1, 256, NULL, NOWHERE,
          "Profile whose grants, denials and routing it gets"),
    SIZED("/participants/*/grants", SETTING_GRANTS, 0, 1024, "[]", NOWHERE,
          "What it may send besides what its profile grants"),
    SIZED("/participants/*/deny", SETTING_PATTERNS, 0, 1024, "[]", NOWHERE,
          "What it may not send, whatever is granted"),
    INTEGER("/participants/*/instances", 1, INSTANCES_MAX, "", NULL, "instances", NOWHERE,
            "Its connections to one topic at one time, instead of auth.instances"),
    CHOICE("/participants/*/routing", routing_choices, NULL, NOWHERE,
           "How it reads, instead of its profile's routing"),
    CHOICE("/participants/*/jwt", jwt_choices, NULL, NOWHERE,
           "What becomes of a JSON Web Token that names it: refused, or as good as its own "
           "token, "
           "with the grants that stand here; refused when absent"),

    BOOL("/topics/create", "true", LIVE(config.hub.create),
         "A topic comes to be when its first participant joins"),
    CHOICE("/topics/routing", routing_choices, "\"all\"", LIVE(config.hub.directed),
           "What a participant reads that states no preference: everything, or only what is "
           "addressed to it or to nobody"),
    INTEGER("/topics/replay", 0, 1000000, "", "100", "envelopes", LIVE(config.hub.replay),
            "History sent to one who joins without asking for a number; 0 sends none"),
    SECONDS("/topics/linger_s", 0, 31536000, "", "300", LIVE(config.hub.linger_ms),
            "How long a topic outlives its last participant; 0 ends it at once"),
    INTEGER("/topics/max", 1, 1000000, NO_LIMIT, "10000", "topics",
            LIVE(config.hub.topics_max), "Topics at one time"),
    INTEGER("/topics/max_per_participant", 1, 1000000, NO_LIMIT, "1000", "topics",
            LIVE(config.hub.topics_each),
            "Topics at one time that came to be because one participant joined them"),
    INTEGER("/topics/participants", 1, 1000000, NO_LIMIT, "10000", "participants",
            LIVE(config.hub.participants_max), "Participants of one topic at one time"),
    INTEGER("/topics/history/count", 1, 10000000, NO_LIMIT, "1000", "envelopes",
            AT(config.hub.history_count), "Envelopes a topic retains"),
    INTEGER("/topics/history/bytes", 65536, INT64_C(1) << 40, "", "33554432", "bytes",
            AT(config.hub.history_bytes),
            "Bytes a topic retains; 0 is refused, because this bounds memory"),
    SECONDS("/topics/history/age_s", 1, TEN_YEARS_S, NO_LIMIT, "86400",
            AT(config.hub.history_age_ms), "Age up to which a topic retains envelopes"),

    BOOL("/derive_kinds", "true", LIVE(config.hub.derive_kinds),
         "Complete a short kind from the envelope that correlation_id names"),

    INTEGER("/limits/message_bytes", 1024, INT64_C(1) << 29, NO_LIMIT, "8388608", "bytes",
            LIVE(config.hub.message_bytes), "Largest message"),
    INTEGER("/limits/depth", 1, 65536, NO_LIMIT, "512", "levels", LIVE(config.hub.depth),
            "Deepest nesting of a message, the envelope being level 1; 65536 is the most even "
            "without limit"),
    INTEGER(
        "/limits/backlog_bytes", 65536, INT64_C(1) << 40, NO_LIMIT, "33554432", "bytes",
        AT(config.hub.backlog_bytes),
        "What a topic keeps for its slowest reader before it is disconnected; a quarter of "
        "it besides for presence"),
    INTEGER("/limits/connections", 1, 1000000, NO_LIMIT, "20000", "connections",
            AT(config.hub.connections_max), "Connections at one time"),
    INTEGER("/limits/connections_per_participant", 1, 1000000, NO_LIMIT, "2000", "connections",
            LIVE(config.hub.connections_each),
            "Connections of one participant at one time, in all topics"),
    INTEGER("/limits/tickets_per_participant", 1, 4096, NO_LIMIT, "64", "tickets",
            LIVE(config.tickets_each), "Unused tickets of one participant"),
    INTEGER("/limits/log_bytes", 1048576, INT64_C(1) << 50, QUARTER, "0", "bytes",
            AT(config.hub.log_bytes), "Memory of all topics' logs together"),
    INTEGER("/limits/connects_per_s", 1, 1000000, NO_LIMIT, "500", "per second",
            LIVE(config.connects_per_s),
            "Connection attempts of one address, those of participants with a good token left "
            "out"),
    INTEGER("/limits/requests_per_minute", 1, 1000000000, NO_LIMIT, "6000", "per minute",
            LIVE(config.requests_per_minute),
            "HTTP requests and connection attempts of one participant; a sixth of it may come "
            "at once"),
    INTEGER("/limits/joins_per_minute", 1, 1000000000, NO_LIMIT, "120", "per minute",
            LIVE(config.hub.joins_per_minute), "Joins of one participant to one topic"),
    INTEGER("/limits/messages_per_minute", 1, 1000000000, NO_LIMIT, "6000", "per minute",
            LIVE(config.hub.messages_per_minute), "Messages of one participant in one topic"),
    INTEGER("/limits/bytes_per_minute", 1024, (INT64_C(1) << 44) - 1, NO_LIMIT, "268435456",
            "bytes per minute", LIVE(config.hub.bytes_per_minute),
            "Bytes of messages of one participant in one topic"),
    SECONDS("/limits/ping_s", 1, 3600, "never", "25", LIVE(config.hub.ping_ms),
            "Silence after which a participant is pinged; two unanswered pings end the "
            "connection"),
    SECONDS("/limits/drain_s", 1, 3600, "", "5", LIVE(config.drain_ms),
            "How long a shutdown may take"),

    SECONDS("/admin/grant_max_s", 1, TEN_YEARS_S, NO_LIMIT, "28800", LIVE(config.grant_max_ms),
            "How long a grant that was given at run time may last, renewals included"),

    CHOICE("/store/kind", store_choices, "\"memory\"", AT(config.store.kind),
           "What keeps messages: the memory of the router, or a SQLite file"),
    SIZED("/store/file", SETTING_STRING, 0, 4095, "\"\"", AT(config.store.file),
          "The SQLite file, relative to the directory of the configuration file; made when it "
          "does not exist"),
    CHOICE("/store/durability", durability_choices, "\"full\"", AT(config.store.normal),
           "What survives a loss of power: all that anybody received, or all but the last "
           "seconds"),
    INTEGER("/store/file_bytes", 1048576, INT64_C(1) << 46, NO_LIMIT, "0", "bytes",
            AT(config.store.file_bytes),
            "What the database may take; FILE-wal comes on top of it"),
    INTEGER("/store/bytes_per_participant", 65536, INT64_C(1) << 46, QUARTER_OF_FILE, "0",
            "bytes", AT(config.store.bytes_per_participant),
            "What one participant may have in the database, in all topics together; beyond it "
            "its messages are refused (share_used)"),
    BOOL("/store/check", "false", AT(config.store.check),
         "Check the structure of the whole file before the router starts, but not each "
         "message; takes about a second for each gigabyte"),
    INTEGER("/store/pending_bytes", 1048576, INT64_C(1) << 40, NO_LIMIT, "67108864", "bytes",
            LIVE(config.hub.pending_bytes),
            "Memory of all messages that are being stored, of one participant a quarter; "
            "beyond it they are refused"),
    INTEGER(
        "/store/timeout_ms", 1000, 60000, "", "5000", "milliseconds", AT(config.hub.open_ms),
        "How long somebody waits for a topic that has to be loaded first; and how long the "
        "disk may say nothing before /readyz says that it is slow"),

    SIZED("/audit/folder", SETTING_STRING, 0, 4095, "\"\"", AT(config.audit.folder),
          "Folder of the audit, relative to the directory of the configuration file; empty "
          "means nothing is audited"),
    SIZED("/audit/key_file", SETTING_STRING, 0, 4095, "\"\"", AT(config.audit.key_file),
          "File with the Ed25519 key that signs the audit, in PEM; required with folder"),
    CHOICE("/audit/on_full", full_choices, "\"refuse\"", AT(config.audit.on_full),
           "What happens to messages that cannot be audited: they are refused, everybody "
           "waits, or they are delivered and counted"),
    BOOL("/audit/payloads", "false", AT(config.audit.payloads),
         "Write the texts of messages into the audit, not only their SHA-256"),
    INTEGER("/audit/rotate_bytes", 65536, INT64_C(1) << 40, NO_LIMIT, "268435456", "bytes",
            AT(config.audit.rotate_bytes), "Size at which the next file of the audit begins"),
    SECONDS("/audit/rotate_s", 60, TEN_YEARS_S, NO_LIMIT, "86400", AT(config.audit.rotate_ms),
            "Age at which the next file of the audit begins"),

    CHOICE("/log/level", level_choices, "\"info\"", LIVE(config.log_level),
           "The least important lines that are logged"),
    CHOICE("/log/format", format_choices, "\"text\"", LIVE(config.log_format),
           "How a line is written: key=value, or one JSON object"),
    {.pointer = NULL},
};

_Static_assert(sizeof settings_table / sizeof *settings_table <= SETTINGS_MAX,
               "set_by has a place for each row");

/*
 * Finding rows by JSON pointer, and writing their names and types in words. The rows are searched
 * from end to end: they are fewer than a hundred.
 */

enum fit { FIT_NONE, FIT_EXACT, FIT_ABOVE };

/* The place of a pointer relative to a row: at it, above it, or elsewhere. */
static enum fit fit_of(const char *row, const char *pointer)
{
    while (*pointer && *row) {
        size_t want = strcspn(row + 1, "/");
        size_t have = strcspn(pointer + 1, "/");
        bool any = want == 1 && row[1] == '*';

        if (!any && (want != have || memcmp(row + 1, pointer + 1, want) != 0))
            return FIT_NONE;
        row += 1 + want;
        pointer += 1 + have;
    }
    if (*pointer)
        return FIT_NONE;
    return *row ? FIT_ABOVE : FIT_EXACT;
}

/* The first row to which the pointer has this place; NULL when there is none. */
static const struct setting *find(const char *pointer, enum fit fit)
{
    for (const struct setting *row = settings_table; row->pointer; row++)
        if (fit_of(row->pointer, pointer) == fit)
            return row;
    return NULL;
}

const struct setting *settings_find(const char *pointer)
{
    return find(pointer, FIT_EXACT);
}

bool settings_has_section(const char *pointer)
{
    return find(pointer, FIT_ABOVE) != NULL;
}

static size_t depth_of(const char *pointer)
{
    size_t depth = 0;

    for (; *pointer; pointer++)
        depth += *pointer == '/';
    return depth;
}

/* The segment of a row's pointer at a depth; segments are counted from 0. */
static struct mcpx_slice segment_at(const char *pointer, size_t depth)
{
    for (; depth > 0; depth--)
        pointer += 1 + strcspn(pointer + 1, "/");
    return (struct mcpx_slice){pointer + 1, strcspn(pointer + 1, "/")};
}

void settings_write_names(const char *section, struct mcpx_text *out)
{
    size_t depth = depth_of(section);
    struct mcpx_slice last = {NULL, 0};

    for (const struct setting *row = settings_table; row->pointer; row++) {
        struct mcpx_slice name;

        if (fit_of(row->pointer, section) != FIT_ABOVE)
            continue;
        name = segment_at(row->pointer, depth);
        if (mcpx_slice_equal(name, last) || mcpx_slice_equal(name, MCPX_SLICE("*")))
            continue; /* rows of one section stand together */
        if (last.text)
            mcpx_text_puts(out, ", ");
        mcpx_text_slice(out, name);
        last = name;
    }
}

void setting_write_variable(const struct setting *row, struct mcpx_text *out)
{
    if (row->type == SETTING_MAP || row->type == SETTING_LIST || strpbrk(row->pointer, "*$"))
        return;
    mcpx_text_puts(out, "MCPX");
    for (const char *at = row->pointer; *at; at++) {
        char upper = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;

        if (upper == '/')
            upper = '_';
        mcpx_text_add(out, &upper, 1);
    }
}

/* What a value of each type has to be: these words, or with `end` "BEGIN MIN..MAX END". */
static const struct {
    const char *begin, *end;
} words[] = {
    [SETTING_BOOL] = {"true or false", NULL},
    [SETTING_INTEGER] = {"an integer ", ""},
    [SETTING_CHOICE] = {"one of ", NULL},
    [SETTING_STRING] = {"a string of ", " bytes"},
    [SETTING_SECRET] = {"a string of ", " bytes"},
    [SETTING_SHA256] = {"the 64 hexadecimal digits of a SHA-256", NULL},
    [SETTING_LATER] = {"\"\" (not supported yet by this version)", NULL},
    [SETTING_STRINGS] = {"a list of ", " strings"},
    [SETTING_PATTERNS] = {"a list of ", " capability patterns"},
    [SETTING_GRANTS] = {"a list of ", " grants"},
    [SETTING_MAP] = {"an object of ", " members"},
    [SETTING_LIST] = {"a list of ", " objects"},
};

void setting_write_expected(const struct setting *row, struct mcpx_text *out)
{
    mcpx_text_puts(out, words[row->type].begin);
    if (words[row->type].end)
        mx_format(out, "%s..%s%s", row->min, row->max, words[row->type].end);
    if (*row->zero)
        mx_format(out, " (0 = %s)", row->zero);
    for (size_t i = 0; row->choices && row->choices[i]; i++)
        mx_format(out, i > 0 ? ", %q" : "%q", row->choices[i]);
}
