/*
 * What breaks for whom: an operator who reads "invalid configuration" and has to guess. Each row
 * is a file with one fault and the beginning of the one line it earns: where, what was found,
 * what is allowed. docs/configuration.md (faults).
 */
#include "tests/support/settled.h"

#include <criterion/criterion.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define PERSON(members) "{\"participants\":{\"a\":{" members "}}}"
#define WHOLE_PERSON(members) PERSON("\"token_sha256\":\"" HASH "\"," members)
#define KEY(members) "{\"auth\":{\"jwt\":{\"keys\":[{" members "}]}}}"

static const struct {
    const char *text;
    const char *line; /* the only line expected */
} faults[] = {
    {"{\"limits\":{\"depth\":\"x\"}}",
     "FILE: /limits/depth: found \"x\" (string), expected an integer 1..65536 (0 = no limit)"},
    {"{\"limits\":{\"depth\":65537}}", "FILE: /limits/depth: found 65537 (integer), expected "
                                       "an integer 1..65536 (0 = no limit)"},
    {"{\"limits\":{\"depth\":-1}}",
     "FILE: /limits/depth: found -1 (integer), expected an integer 1..65536 (0 = no limit)"},
    {"{\"limits\":{\"depth\":1.5}}",
     "FILE: /limits/depth: found 1.5 (number), expected an integer 1..65536 (0 = no limit)"},
    {"{\"limits\":{\"depth\":true}}",
     "FILE: /limits/depth: found true (boolean), expected an integer 1..65536 (0 = no limit)"},
    {"{\"limits\":{\"depth\":[1,2]}}", "FILE: /limits/depth: found a list of 2 entries, "
                                       "expected an integer 1..65536 (0 = no limit)"},
    {"{\"log\":{\"level\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "\u00e9\u00e9\"}}",
     "FILE: /log/level: found "
     "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"... "
     "(string), expected one of "},
    {"{\"auth\":{\"jwt\":{\"keys\":false}}}",
     "FILE: /auth/jwt/keys: found boolean, expected a list of 0..64 objects"},
    {"{\"limits\":{\"depth\":null}}",
     "FILE: /limits/depth: found null, expected an integer 1..65536 (0 = no limit)"},
    {"{\"limits\":{\"depth\":{}}}",
     "FILE: /limits/depth: found an object of 0 members, expected an integer 1..65536 (0 = no "
     "limit)"},
    {"{\"limits\":{\"drain_s\":0}}",
     "FILE: /limits/drain_s: found 0 (integer), expected an integer 1..3600"},
    {"{\"topics\":{\"history\":{\"bytes\":0}}}",
     "FILE: /topics/history/bytes: found 0 (integer), expected an integer "
     "65536..1099511627776"},
    {"{\"topics\":{\"create\":1}}",
     "FILE: /topics/create: found 1 (integer), expected true or false"},
    {"{\"topics\":{\"routing\":\"some\"}}",
     "FILE: /topics/routing: found \"some\" (string), expected one of \"all\", \"directed\""},
    {"{\"topics\":[]}", "FILE: /topics: found a list of 0 entries, expected an object"},
    {"{\"auth\":\"mysecret\"}", "FILE: /auth: found a string of 8 bytes, expected an object"},
    {"[]", "FILE: found a list of 0 entries, expected an object"},
    {"{\"log\":{\"levle\":\"info\"}}",
     "FILE: /log/levle: unknown key, expected one of level, format"},
    {"{\"tls\":{\"ocsp_file\":\"x\"}}",
     "FILE: /tls/ocsp_file: unknown key, expected one of certificate_file, key_file, "
     "client_ca_file, client_crl_file, client_names, min_version"},
    {"{\"a/b~c\\u0007\":1}",
     "FILE: /a~1b~0c\\x07: unknown key, expected one of $schema, listen, "
     "trusted_proxies, proxy_address, tls, auth, profiles, "
     "participants, topics, derive_kinds, limits, admin, store, audit, log"},
    {"{\"log\":{\"level\":\"info\",\"level\":\"info\"}}",
     "FILE: line 1, column 30: duplicate object key"},
    {"{\n \"log\": {\"level\" \"info\"}}", "FILE: line 2, column 23: ':' expected"},
    {"{\"log\":{}} x", "FILE: line 1, column 12: end of file expected"},
    {"", "FILE: line 1, column 0: '[' or '{' expected"},
    {"{\"listen\":[\"tls://*:443\"],\"tls\":{\"key_file\":\"k.pem\"}}",
     "FILE: /tls/certificate_file: is empty, expected the path of a certificate in PEM, "
     "because an address of listen begins with tls://"},
    {"{\"listen\":[\"tls://*:443\"],\"tls\":{\"certificate_file\":\"c.pem\"}}",
     "FILE: /tls/key_file: is empty, expected the path of the certificate's key in PEM, "
     "because an address of listen begins with tls://"},
    {"{\"trusted_proxies\":[\"10.0.0.1/8\"]}",
     "FILE: /trusted_proxies/0: found \"10.0.0.1/8\", expected an address or a network "
     "without "
     "bits beyond its prefix, such as \"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\""},
    {"{\"listen\":[\"ssl://*:443\"]}",
     "FILE: /listen/0: found \"ssl://*:443\" (string), expected HOST:PORT, or "
     "tls://HOST:PORT, such as \"tls://*:443\""},
    {"{\"tls\":{\"min_version\":\"1.1\"}}",
     "FILE: /tls/min_version: found \"1.1\" (string), expected one of \"1.2\", \"1.3\""},
    {"{\"auth\":{\"jwt\":{\"jwks_file\":\"k\"}}}",
     "FILE: /auth/jwt/jwks_file: the file /tmp/k: it cannot be read: No such file or "
     "directory"},
    {"{\"store\":{\"kind\":\"nats\"}}", "FILE: /store/kind: found \"nats\" (string), expected "
                                        "one of \"memory\", \"sqlite\""},
    {"{\"store\":{\"kind\":\"sqlite\"}}",
     "FILE: /store/file: is empty, expected the path of a file, because store.kind is "
     "\"sqlite\""},
    {"{\"store\":{\"timeout_ms\":999}}",
     "FILE: /store/timeout_ms: found 999 (integer), expected an integer 1000..60000"},
    {"{\"store\":{\"file_bytes\":1}}",
     "FILE: /store/file_bytes: found 1 (integer), expected an "
     "integer 1048576..70368744177664 (0 = no limit)"},
    {"{\"audit\":{\"folder\":\"a\"}}",
     "FILE: /audit/key_file: is empty, expected the path of an Ed25519 key in PEM, because "
     "audit.folder is set; \"openssl genpkey"},
    {"{\"audit\":{\"on_full\":\"wait\"}}",
     "FILE: /audit/on_full: found \"wait\" (string), expected one of \"refuse\", \"block\", "
     "\"drop\""},
    {"{\"listen\":[]}", "FILE: /listen: found a list of 0 entries, expected a list of 1..16 "
                        "strings"},
    {"{\"listen\":[1]}", "FILE: /listen/0: found integer, expected a string of 1..256 bytes"},
    {"{\"listen\":[\"8080\"]}", "FILE: /listen/0: found \"8080\" (string), expected "
                                "HOST:PORT, such as \"127.0.0.1:8080\", "
                                "\"[::1]:8080\" or \"*:80\""},
    {"{\"listen\":[\"a:1\",\"::1:80\"]}",
     "FILE: /listen/1: found \"::1:80\" (string), expected HOST:PORT, such as "
     "\"127.0.0.1:8080\", \"[::1]:8080\" or \"*:80\""},
    {"{\"listen\":[\"[::g]:80\"]}",
     "FILE: /listen/0: found \"[::g]:80\" (string), expected HOST:PORT, such as "
     "\"127.0.0.1:8080\", \"[::1]:8080\" or \"*:80\""},
    {"{\"listen\":[\"a:65536\"]}",
     "FILE: /listen/0: found \"a:65536\" (string), expected HOST:PORT, such as "
     "\"127.0.0.1:8080\", \"[::1]:8080\" or \"*:80\""},
    {"{\"listen\":[\":80\"]}", "FILE: /listen/0: found \":80\" (string), expected HOST:PORT, "
                               "such as \"127.0.0.1:8080\", "
                               "\"[::1]:8080\" or \"*:80\""},
    {KEY("\"alg\":\"RS256\",\"secret\":\"0123456789abcdef0123456789abcdef\""),
     "FILE: /auth/jwt/keys/0: an algorithm for public keys needs \"public_key_file\""},
    {KEY("\"alg\":\"EdDSA\""),
     "FILE: /auth/jwt/keys/0: an algorithm for public keys needs \"public_key_file\""},
    {KEY("\"alg\":\"HS256\",\"public_key_file\":\"x\""),
     "FILE: /auth/jwt/keys/0: found \"public_key_file\" with an algorithm for secrets: who "
     "knows the public key could sign; expected one such as \"RS256\", \"ES256\", \"EdDSA\""},
    {KEY("\"alg\":\"RS256\",\"public_key_file\":\"x\",\"secret_file\":\"x\""),
     "FILE: /auth/jwt/keys/0: found a public key and a secret, expected one of them"},
    {KEY("\"alg\":\"RS256\",\"public_key_file\":\"mcpx-no-such-file\""),
     "FILE: /auth/jwt/keys/0: the file /tmp/mcpx-no-such-file: it cannot be read: No such "
     "file "
     "or directory"},
    {KEY("\"alg\":\"none\",\"secret\":\"0123456789abcdef0123456789abcdef\""),
     "FILE: /auth/jwt/keys/0/alg: found \"none\" (string), expected one of \"HS256\", "
     "\"HS384\", \"HS512\""},
    {KEY("\"secret\":\"0123456789abcdef0123456789abcdef\""),
     "FILE: /auth/jwt/keys/0: \"alg\" is missing, expected one such as \"HS256\", "
     "\"RS256\", \"ES256\", \"EdDSA\""},
    {KEY("\"alg\":\"HS256\""), "FILE: /auth/jwt/keys/0: found neither \"secret\" nor "
                               "\"secret_file\", expected one of them"},
    {KEY("\"alg\":\"HS256\",\"secret\":\"0123456789abcdef\",\"secret_file\":\"x\""),
     "FILE: /auth/jwt/keys/0: found both \"secret\" and \"secret_file\", expected one of "
     "them"},
    {KEY("\"alg\":\"HS256\",\"secret\":\"0123456789abcde\""),
     "FILE: /auth/jwt/keys/0/secret: found a string of 15 bytes, expected a string of "
     "16..4096 "
     "bytes"},
    {KEY("\"alg\":\"HS256\",\"secret_file\":\"mcpx-no-such-file\""),
     "FILE: /auth/jwt/keys/0: the file /tmp/mcpx-no-such-file cannot be read: No such file or "
     "directory"},
    {"{\"auth\":{\"jwt\":{\"secret\":\"short\"}}}",
     "FILE: /auth/jwt/secret: found a secret of 5 bytes, expected 16..4096"},
    {"{\"auth\":{\"jwt\":{\"keys\":[7]}}}",
     "FILE: /auth/jwt/keys/0: found integer, expected an object"},
    {"{\"auth\":{\"jwt\":{\"keys\":["
     "{\"kid\":\"k\",\"alg\":\"HS256\",\"secret\":\"0123456789abcdef0123456789abcdef\"},"
     "{\"kid\":\"k\",\"alg\":\"HS512\",\"secret\":\"0123456789abcdef0123456789abcdef\"}]}}}",
     "FILE: /auth/jwt/keys/1: an earlier key has the same \"kid\""},
    {"{\"profiles\":{\"p\":{\"grants\":[\"chat\",\"mcp//x\"]}}}",
     "FILE: /profiles/p/grants/1: found \"mcp//x\" (string): "},
    {"{\"profiles\":{\"p\":{\"deny\":[{\"kind\":\"chat\"}]}}}",
     "FILE: /profiles/p/deny/0: found an object of 1 members: expected a capability pattern"},
    {"{\"profiles\":{\"p\":{\"grants\":[7]}}}",
     "FILE: /profiles/p/grants/0: found 7 (integer): expected a capability pattern or an "
     "object "
     "with \"kind\""},
    {"{\"profiles\":{\"p\":{\"grants\":[{\"kind\":\"chat\",\"to\":[]}]}}}",
     "FILE: /profiles/p/grants/0: found an object of 2 members: expected a list of 1..256 "
     "participant ids (to, byte 0)"},
    {"{\"profiles\":{\"p\":{\"grants\":[{\"kind\":\"chat\",\"expires\":\"soon\"}]}}}",
     "FILE: /profiles/p/grants/0: found an object of 2 members: expected a date like "
     "2026-12-31T23:59:59Z (expires, byte 0)"},
    {"{\"profiles\":{\"p\":{\"grants\":[{\"kind\":\"chat\",\"until\":\"x\"}]}}}",
     "FILE: /profiles/p/grants/0: found an object of 2 members: expected no members but "
     "\"kind\", \"to\" and \"expires\""},
    {"{\"profiles\":{\"p\":{\"grant\":[]}}}",
     "FILE: /profiles/p/grant: unknown key, expected one of grants, deny, routing"},
    {"{\"profiles\":{\"p\":[]}}",
     "FILE: /profiles/p: found a list of 0 entries, expected an object"},
    {"{\"profiles\":{\"p\":{\"grants\":\"chat\"}}}",
     "FILE: /profiles/p/grants: found \"chat\" (string), expected a list of 0..1024 grants"},
    {"{\"profiles\":{\"p\":{\"deny\":{}}}}", "FILE: /profiles/p/deny: found an object of 0 "
                                             "members, expected a list of 0..1024 capability "
                                             "patterns"},
    {PERSON("\"topics\":[\"*\"]"),
     "FILE: /participants/a: \"token_sha256\" is missing, expected "
     "the 64 hexadecimal digits of a SHA-256"},
    {PERSON("\"token_sha256\":\"hunter2\""), "FILE: /participants/a/token_sha256: found a "
                                             "string of 7 bytes, expected the 64 hexadecimal "
                                             "digits of a SHA-256"},
    {WHOLE_PERSON("\"profile\":\"nobody\""), "FILE: /participants/a/profile: found \"nobody\" "
                                             "(string), expected the name of a profile"},
    {WHOLE_PERSON("\"topics\":[\"a\\tb\"]"), "FILE: /participants/a/topics/0: expected a "
                                             "topic pattern of 1..256 bytes without control "
                                             "characters"},
    {WHOLE_PERSON("\"token\":\"mysecret\""), "FILE: /participants/a/token: unknown key, "
                                             "expected one of token_sha256, topics, profile, "
                                             "grants, deny, instances, routing"},
    {"{\"participants\":{\"system:x\":{\"token_sha256\":\"" HASH "\"}}}",
     "FILE: /participants/system:x: expected a participant id of 1..256 bytes without control "
     "characters, not \"system\" and not beginning with \"system:\""},
    {"{\"participants\":{\"desk~2\":{\"token_sha256\":\"" HASH "\"}}}",
     "FILE: /participants/desk~02: expected a participant id that does not end in ~ and "
     "digits, "
     "because instances of a participant are called so"},
    {WHOLE_PERSON("\"grants\":[{\"kind\":\"chat\",\"to\":[\"b~2\"]}]"),
     "FILE: /participants/a/grants/0: found an object of 2 members: expected participant ids "
     "of "
     "1..256 bytes that do not end in ~ and digits; instances are covered by their "
     "participant's id (to, byte "
     "0)"},
    {WHOLE_PERSON("\"instances\":65"), "FILE: /participants/a/instances: found 65 (integer), "
                                       "expected an integer 1..64"},
    {"{\"participants\":{\"a\":{\"token_sha256\":\"" HASH "\"},"
     "\"b\":{\"token_sha256\":\"" HASH "\"}}}",
     "FILE: /participants/b: an earlier participant has the same \"token_sha256\""},
};

Test(config_faults, say_what_where_and_what_would_be_right)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct settled s = settled_load(faults[i].text, NULL, false);
        const char *lines = s.errors.text;
        const char *end = strchr(lines, '\n');

        cr_expect_eq(s.err, MCPX_ECONFIG, "%s", faults[i].text);
        cr_expect(strncmp(lines, faults[i].line, strlen(faults[i].line)) == 0,
                  "%s\n  gives    %s  expected %s\n", faults[i].text, lines, faults[i].line);
        cr_expect(end && end[1] == '\0', "%s gives more than one line: %s", faults[i].text,
                  lines);
        settled_fini(&s);
    }
}
