/*
 * config_table.c - every setting of the router, once: its place in the file, its range, its
 * default, and its member in the settings. docs/configuration.md repeats these rows for readers and
 * explains them; config/router.schema.json repeats them for editors. A test compares all three.
 */
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"

/* Where a value is stored, and whether a reload changes it, as it does values of NOWHERE. */
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

/* Rows of one type differ in the remaining columns. */
#define ROW(...)                                                                              \
    {                                                                                         \
        __VA_ARGS__                                                                           \
    }
#define BOOL(pointer, fallback, at) ROW(pointer, SETTING_BOOL, 0, 0, "", 1, NULL, fallback, at)
#define INTEGER(pointer, min, max, zero, fallback, at)                                        \
    ROW(pointer, SETTING_INTEGER, min, max, zero, 1, NULL, fallback, at)
#define SECONDS(pointer, min, max, zero, fallback, at)                                        \
    ROW(pointer, SETTING_INTEGER, min, max, zero, 1000, NULL, fallback, at)
#define CHOICE(pointer, choices, fallback, at)                                                \
    ROW(pointer, SETTING_CHOICE, 0, 0, "", 1, choices, fallback, at)
#define SIZED(pointer, type, min, max, fallback, at)                                          \
    ROW(pointer, type, min, max, "", 1, NULL, fallback, at)

const struct setting settings_table[] = {
    SIZED("/$schema", SETTING_STRING, 0, 4095, NULL, NOWHERE),
    SIZED("/listen", SETTING_STRINGS, 1, 16, "[\"127.0.0.1:8080\", \"[::1]:8080\"]",
          AT(listen)),
    SIZED("/trusted_proxies", SETTING_STRINGS, 0, 64, "[]", LIVE(proxies)),
    CHOICE("/proxy_address", proxy_choices, "\"x-forwarded-for\"", LIVE(config.proxy_address)),
    SIZED("/tls/certificate_file", SETTING_STRING, 0, 4095, "\"\"",
          AT(config.tls.files[TLS_CERTIFICATE])),
    SIZED("/tls/key_file", SETTING_STRING, 0, 4095, "\"\"", AT(config.tls.files[TLS_KEY])),
    SIZED("/tls/client_ca_file", SETTING_STRING, 0, 4095, "\"\"",
          AT(config.tls.files[TLS_CLIENT_CA])),
    SIZED("/tls/client_crl_file", SETTING_STRING, 0, 4095, "\"\"",
          AT(config.tls.files[TLS_CLIENT_CRL])),
    SIZED("/tls/client_names", SETTING_MAP, 0, 100000, "{}", NOWHERE),
    SIZED("/tls/client_names/*", SETTING_STRING, 1, 256, NULL, NOWHERE),
    CHOICE("/tls/min_version", version_choices, "\"1.2\"", AT(config.tls.only_1_3)),

    CHOICE("/auth/duplicate", duplicate_choices, "\"takeover\"", LIVE(config.hub.takeover)),
    INTEGER("/auth/instances", 1, INSTANCES_MAX, "", "8", LIVE(config.hub.instances)),
    BOOL("/auth/query_token", "false", LIVE(config.query_token)),
    SIZED("/auth/origins", SETTING_STRINGS, 0, 64,
          "[\"http://localhost:*\", \"http://127.0.0.1:*\", \"http://[::1]:*\"]",
          LIVE(config.origins)),
    SIZED("/auth/jwt/issuer", SETTING_STRING, 0, 1024, "\"\"", LIVE(issuer)),
    SIZED("/auth/jwt/audience", SETTING_STRING, 0, 1024, "\"\"", LIVE(audience)),
    SIZED("/auth/jwt/secret", SETTING_SECRET, 0, 4096, "\"\"", LIVE(secret)),
    SIZED("/auth/jwt/secret_file", SETTING_STRING, 0, 4095, "\"\"", LIVE(secret_file)),
    CHOICE("/auth/jwt/exp", exp_choices, "\"required\"", LIVE(exp_optional)),
    SIZED("/auth/jwt/jwks_file", SETTING_STRING, 0, 4095, "\"\"", LIVE(jwks_file)),
    SIZED("/auth/jwt/keys", SETTING_LIST, 0, 64, "[]", NOWHERE),
    SIZED("/auth/jwt/keys/*/kid", SETTING_STRING, 1, 256, NULL, NOWHERE),
    CHOICE("/auth/jwt/keys/*/alg", alg_choices, NULL, NOWHERE),
    SIZED("/auth/jwt/keys/*/secret", SETTING_SECRET, 16, 4096, NULL, NOWHERE),
    SIZED("/auth/jwt/keys/*/secret_file", SETTING_STRING, 1, 4095, NULL, NOWHERE),
    SIZED("/auth/jwt/keys/*/public_key_file", SETTING_STRING, 1, 4095, NULL, NOWHERE),
    CHOICE("/auth/jwt/keys/*/exp", exp_choices, NULL, NOWHERE),

    SIZED("/profiles", SETTING_MAP, 0, 4096, "{}", NOWHERE),
    SIZED("/profiles/*/grants", SETTING_GRANTS, 0, 1024, "[]", NOWHERE),
    SIZED("/profiles/*/deny", SETTING_PATTERNS, 0, 1024, "[]", NOWHERE),
    CHOICE("/profiles/*/routing", routing_choices, NULL, NOWHERE),

    SIZED("/participants", SETTING_MAP, 0, 100000, "{}", NOWHERE),
    SIZED("/participants/*/token_sha256", SETTING_SHA256, 64, 64, NULL, NOWHERE),
    SIZED("/participants/*/topics", SETTING_STRINGS, 0, 1024, "[]", NOWHERE),
    SIZED("/participants/*/profile", SETTING_STRING, 1, 256, NULL, NOWHERE),
    SIZED("/participants/*/grants", SETTING_GRANTS, 0, 1024, "[]", NOWHERE),
    SIZED("/participants/*/deny", SETTING_PATTERNS, 0, 1024, "[]", NOWHERE),
    INTEGER("/participants/*/instances", 1, INSTANCES_MAX, "", NULL, NOWHERE),
    CHOICE("/participants/*/routing", routing_choices, NULL, NOWHERE),
    CHOICE("/participants/*/jwt", jwt_choices, NULL, NOWHERE),

    BOOL("/topics/create", "true", LIVE(config.hub.create)),
    CHOICE("/topics/routing", routing_choices, "\"all\"", LIVE(config.hub.directed)),
    INTEGER("/topics/replay", 0, 1000000, "", "100", LIVE(config.hub.replay)),
    SECONDS("/topics/linger_s", 0, 31536000, "", "300", LIVE(config.hub.linger_ms)),
    INTEGER("/topics/max", 1, 1000000, NO_LIMIT, "10000", LIVE(config.hub.topics_max)),
    INTEGER("/topics/max_per_participant", 1, 1000000, NO_LIMIT, "1000",
            LIVE(config.hub.topics_each)),
    INTEGER("/topics/participants", 1, 1000000, NO_LIMIT, "10000",
            LIVE(config.hub.participants_max)),
    INTEGER("/topics/history/count", 1, 10000000, NO_LIMIT, "1000",
            AT(config.hub.history_count)),
    INTEGER("/topics/history/bytes", 65536, INT64_C(1) << 40, "", "33554432",
            AT(config.hub.history_bytes)),
    SECONDS("/topics/history/age_s", 1, TEN_YEARS_S, NO_LIMIT, "86400",
            AT(config.hub.history_age_ms)),

    BOOL("/derive_kinds", "true", LIVE(config.hub.derive_kinds)),

    INTEGER("/limits/message_bytes", 1024, INT64_C(1) << 29, NO_LIMIT, "8388608",
            LIVE(config.hub.message_bytes)),
    INTEGER("/limits/depth", 1, 65536, NO_LIMIT, "512", LIVE(config.hub.depth)),
    INTEGER("/limits/backlog_bytes", 65536, INT64_C(1) << 40, NO_LIMIT, "33554432",
            AT(config.hub.backlog_bytes)),
    INTEGER("/limits/connections", 1, 1000000, NO_LIMIT, "20000",
            AT(config.hub.connections_max)),
    INTEGER("/limits/connections_per_participant", 1, 1000000, NO_LIMIT, "2000",
            LIVE(config.hub.connections_each)),
    INTEGER("/limits/tickets_per_participant", 1, 4096, NO_LIMIT, "64",
            LIVE(config.tickets_each)),
    INTEGER("/limits/log_bytes", 1048576, INT64_C(1) << 50, QUARTER, "0",
            AT(config.hub.log_bytes)),
    INTEGER("/limits/connects_per_s", 1, 1000000, NO_LIMIT, "500",
            LIVE(config.connects_per_s)),
    INTEGER("/limits/requests_per_minute", 1, 1000000000, NO_LIMIT, "6000",
            LIVE(config.requests_per_minute)),
    INTEGER("/limits/joins_per_minute", 1, 1000000000, NO_LIMIT, "120",
            LIVE(config.hub.joins_per_minute)),
    INTEGER("/limits/messages_per_minute", 1, 1000000000, NO_LIMIT, "6000",
            LIVE(config.hub.messages_per_minute)),
    INTEGER("/limits/bytes_per_minute", 1024, (INT64_C(1) << 44) - 1, NO_LIMIT, "268435456",
            LIVE(config.hub.bytes_per_minute)),
    SECONDS("/limits/ping_s", 1, 3600, "never", "25", LIVE(config.hub.ping_ms)),
    SECONDS("/limits/drain_s", 1, 3600, "", "5", LIVE(config.drain_ms)),

    SECONDS("/admin/grant_max_s", 1, TEN_YEARS_S, NO_LIMIT, "28800",
            LIVE(config.grant_max_ms)),

    CHOICE("/store/kind", store_choices, "\"memory\"", AT(config.store.kind)),
    SIZED("/store/file", SETTING_STRING, 0, 4095, "\"\"", AT(config.store.file)),
    CHOICE("/store/durability", durability_choices, "\"full\"", AT(config.store.normal)),
    INTEGER("/store/file_bytes", 1048576, INT64_C(1) << 46, NO_LIMIT, "0",
            AT(config.store.file_bytes)),
    INTEGER("/store/bytes_per_participant", 65536, INT64_C(1) << 46, QUARTER_OF_FILE, "0",
            AT(config.store.bytes_per_participant)),
    BOOL("/store/check", "false", AT(config.store.check)),
    INTEGER("/store/pending_bytes", 1048576, INT64_C(1) << 40, NO_LIMIT, "67108864",
            LIVE(config.hub.pending_bytes)),
    INTEGER("/store/timeout_ms", 1000, 60000, "", "5000", AT(config.hub.open_ms)),

    SIZED("/audit/folder", SETTING_STRING, 0, 4095, "\"\"", AT(config.audit.folder)),
    SIZED("/audit/key_file", SETTING_STRING, 0, 4095, "\"\"", AT(config.audit.key_file)),
    CHOICE("/audit/on_full", full_choices, "\"refuse\"", AT(config.audit.on_full)),
    BOOL("/audit/payloads", "false", AT(config.audit.payloads)),
    INTEGER("/audit/rotate_bytes", 65536, INT64_C(1) << 40, NO_LIMIT, "268435456",
            AT(config.audit.rotate_bytes)),
    SECONDS("/audit/rotate_s", 60, TEN_YEARS_S, NO_LIMIT, "86400", AT(config.audit.rotate_ms)),

    CHOICE("/log/level", level_choices, "\"info\"", LIVE(config.log_level)),
    CHOICE("/log/format", format_choices, "\"text\"", LIVE(config.log_format)),
    {.pointer = NULL},
};

_Static_assert(sizeof settings_table / sizeof *settings_table <= SETTINGS_MAX,
               "set_by has a place for each row");

/*
 * Finds rows by JSON pointer, and writes their names and types in words. The search is linear:
 * there are fewer than a hundred rows.
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

/* The allowed values of each type: these words, or with `end` "BEGIN MIN..MAX END". */
static const struct {
    const char *begin, *end;
} words[] = {
    [SETTING_BOOL] = {"true or false", NULL},
    [SETTING_INTEGER] = {"an integer ", ""},
    [SETTING_CHOICE] = {"one of ", NULL},
    [SETTING_STRING] = {"a string of ", " bytes"},
    [SETTING_SECRET] = {"a string of ", " bytes"},
    [SETTING_SHA256] = {"the 64 hexadecimal digits of a SHA-256", NULL},
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
