/*
 * fuzz_audit.c - any bytes as the files of an audit: reading and verifying come to the same verdict
 * twice, in a place that exists, and "whole" is said of nothing that is not a chain. When the first
 * byte is odd, the rest says how long a chain of the router is, which is whole, and changes a
 * byte of it, after which it is not. docs/audit.md.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/support/audit_chain.h"

#include <stdlib.h>

enum { LINES_MAX = 2000 };

/* The key of RFC 8410, section 10. */
static struct audit_key *key_of_rfc(void)
{
    static const char pem[] =
        "-----BEGIN PRIVATE KEY-----\n"
        "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
        "-----END PRIVATE KEY-----\n";
    static struct audit_key *key;

    if (!key)
        must(audit_key_read(mcpx_slice_of(pem), AUDIT_PRIVATE, NULL, &key) == MCPX_OK);
    return key;
}

static struct audit_verdict verify(struct test_chain *chain)
{
    struct audit_key *key = key_of_rfc();
    struct audit_evidence evidence = {.keys = &key, .key_count = 1};
    struct audit_verdict verdicts[2];

    for (int i = 0; i < 2; i++) {
        struct audit_rows rows = test_chain_rows(chain);

        must(audit_verify(&rows, &evidence, &verdicts[i]) == MCPX_OK);
    }
    must(verdicts[0].damage == verdicts[1].damage && verdicts[0].seq == verdicts[1].seq &&
         verdicts[0].row == verdicts[1].row && verdicts[0].file == verdicts[1].file);
    return verdicts[0];
}

/* Cuts the input into lines; a byte 0 at the beginning of a line begins a file. */
static void read_lines(struct test_chain *chain, const uint8_t *data, size_t size)
{
    size_t file = 0;

    while (size > 0 && chain->count < LINES_MAX) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end ? (size_t)(end - data) + 1 : size;
        struct test_line *line = &chain->lines[chain->count++];

        file += data[0] == 0 && chain->count > 1;
        *line = (struct test_line){malloc(len), len, file, 1 + file};
        must(line->text != NULL);
        memcpy(line->text, data, len);
        data += len;
        size -= len;
    }
}

/* What "whole" means, looked at in another way. */
static void check_whole(const struct test_chain *chain, const struct audit_verdict *verdict)
{
    struct audit_chain state;

    must(verdict->lines == chain->count && verdict->uncovered <= chain->count);
    for (size_t i = 0; i < chain->count; i++) {
        const struct test_line *line = &chain->lines[i];
        struct audit_line read;

        must(line->text[line->len - 1] == '\n');
        must(audit_line_read((struct mcpx_slice){line->text, line->len - 1}, &read));
        must(i == 0 || (read.seq == state.seq &&
                        memcmp(read.prev.text, state.prev, MCPX_SHA256_LEN) == 0));
        must(audit_chain_continue(&state, (struct mcpx_slice){line->text, line->len}) ==
             MCPX_OK);
    }
}

static void judge_bytes(const uint8_t *data, size_t size)
{
    struct test_chain chain = {.lines = calloc(LINES_MAX, sizeof *chain.lines)};
    struct audit_verdict verdict;

    must(chain.lines != NULL);
    read_lines(&chain, data, size);
    verdict = verify(&chain);
    if (verdict.damage == AUDIT_WHOLE)
        check_whole(&chain, &verdict);
    else
        must(chain.count > 0 && verdict.file <= chain.lines[chain.count - 1].file &&
             verdict.row > 0 && verdict.row <= chain.count + 1 && verdict.reason[0] != '\0');
    test_chain_fini(&chain);
}

/* A chain of the router, whose shape the input says, and a change of one byte in one line. */
static void judge_change(const uint8_t *data)
{
    struct test_chain chain;
    struct test_line *line;
    struct audit_verdict verdict;
    size_t place = data[0], byte = (size_t)data[1] << 8 | data[2];

    test_chain_make(&chain, key_of_rfc(), 3 + data[3] % 60, 2 + data[4] % 20, data[5] % 30);
    verdict = verify(&chain);
    must(verdict.damage == AUDIT_WHOLE && verdict.uncovered == 0);
    line = &chain.lines[place % chain.count];
    byte %= line->len - 1;
    if ((uint8_t)line->text[byte] != data[6] && data[6] != '\n') {
        line->text[byte] = (char)data[6];
        verdict = verify(&chain);
        /* Of the last line nothing may be left that says that it was a checkpoint. */
        must(verdict.damage == AUDIT_WHOLE
                 ? place % chain.count + 1 == chain.count && verdict.uncovered > 0
                 : verdict.seq == place % chain.count + 1);
    }
    test_chain_fini(&chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 8 && data[0] % 2 == 1)
        judge_change(data + 1);
    else if (size >= 1)
        judge_bytes(data + 1, size - 1);
    return 0;
}
