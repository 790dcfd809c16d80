/*
 * audit_chain.c - makes chains with the router's own writer, so that what is verified is what it
 * writes.
 */
#include "tests/support/audit_chain.h"

#include "lib/json/json_write.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <stdlib.h>

struct audit_key *test_audit_key(struct mcpx_text *pem)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    BIO *bio = BIO_new(BIO_s_mem());
    struct audit_key *out = NULL;
    char *text;
    long len;

    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    len = BIO_get_mem_data(bio, &text);
    if (pem)
        mcpx_text_add(pem, text, (size_t)len);
    if (audit_key_read((struct mcpx_slice){text, (size_t)len}, AUDIT_PRIVATE, NULL, &out))
        abort();
    BIO_free(bio);
    EVP_PKEY_free(key);
    return out;
}

static void put(struct test_chain *chain, struct mcpx_text *line, size_t file, uint64_t named)
{
    struct test_line *made = &chain->lines[chain->count++];

    if (line->failed)
        abort();
    *made = (struct test_line){line->text, line->len, file, named};
    *line = (struct mcpx_text){0};
}

/* What the line in place `i` says. */
static void describe(size_t i, size_t count, struct mcpx_text *id, struct audit_note *out)
{
    static const struct mcpx_slice to[] = {{"bob", 3}};

    mx_format(id, "id-%s", i);
    *out = (struct audit_note){.what = AUDIT_ALLOW,
                               .wall_ms = 1790000000000 + (int64_t)i,
                               .topic = MCPX_SLICE("support/main"),
                               .from = MCPX_SLICE("alice"),
                               .to = to,
                               .to_count = i % 2,
                               .kind = MCPX_SLICE("chat"),
                               .kind_sent = MCPX_SLICE("chat"),
                               .id = mcpx_text_view(id),
                               .grant = MCPX_SLICE("chat*"),
                               .rev = MCPX_SLICE("0011223344556677"),
                               .text = mcpx_text_view(id)};
    if (i == 1)
        *out = (struct audit_note){.what = AUDIT_START, .wall_ms = out->wall_ms};
    if (i + 2 == count)
        *out = (struct audit_note){.what = AUDIT_STOP, .wall_ms = out->wall_ms};
}

void test_chain_make(struct test_chain *chain, const struct audit_key *key, size_t count,
                     size_t every, size_t per_file)
{
    struct audit_chain state;
    size_t file = 0;
    uint64_t named = 1;

    *chain = (struct test_chain){.lines = calloc(count, sizeof *chain->lines)};
    audit_chain_begin(&state);
    for (size_t i = 0; i < count; i++) {
        bool begins = i == 0 || (per_file && i % per_file == 0 && i + 1 < count);
        bool ends = i + 1 == count || (per_file && (i + 1) % per_file == 0);
        bool signs = ends || i % every == every - 1;
        struct mcpx_text line = {0}, id = {0};
        struct audit_note note;

        if (begins && i > 0) {
            file++;
            named = i + 1;
        }
        describe(i, count, &id, &note);
        if (begins)
            note = (struct audit_note){.what = AUDIT_BEGIN, .wall_ms = note.wall_ms};
        if (signs && !begins)
            audit_chain_sign(&state, key, note.wall_ms, &line);
        else
            audit_chain_add(&state, &note, i % 3 == 0, &line);
        put(chain, &line, file, named);
        mcpx_text_fini(&id);
    }
}

void test_chain_copy(const struct test_chain *from, struct test_chain *out)
{
    *out = (struct test_chain){.lines = calloc(from->count, sizeof *out->lines)};
    for (; out->count < from->count; out->count++) {
        out->lines[out->count] = from->lines[out->count];
        out->lines[out->count].text = calloc(1, from->lines[out->count].len + 1);
        memcpy(out->lines[out->count].text, from->lines[out->count].text,
               from->lines[out->count].len);
    }
}

void test_chain_remove(struct test_chain *chain, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        free(chain->lines[i].text);
    memmove(chain->lines + first, chain->lines + end,
            (chain->count - end) * sizeof *chain->lines);
    chain->count -= end - first;
}

void test_chain_insert(struct test_chain *chain, size_t at, struct mcpx_slice text)
{
    struct test_line made = chain->lines[at < chain->count ? at : at - 1];

    made.text = calloc(1, text.len + 1);
    made.len = text.len;
    memcpy(made.text, text.text, text.len);
    chain->lines = realloc(chain->lines, (chain->count + 1) * sizeof *chain->lines);
    memmove(chain->lines + at + 1, chain->lines + at,
            (chain->count - at) * sizeof *chain->lines);
    chain->lines[at] = made;
    chain->count++;
}

uint64_t test_chain_row(const struct test_chain *chain, size_t at)
{
    uint64_t row = 1;

    while (at >= row && chain->lines[at - row].file == chain->lines[at].file)
        row++;
    return row;
}

static bool next(void *context, struct audit_row *out)
{
    struct test_chain *chain = context;
    const struct test_line *line = &chain->lines[chain->at];
    bool ended;

    if (chain->at == chain->count)
        return false;
    if (chain->at == 0 || line->file != line[-1].file)
        chain->row = 0;
    ended = line->len > 0 && line->text[line->len - 1] == '\n';
    *out = (struct audit_row){
        {line->text, line->len - ended}, ended, line->file, ++chain->row, line->named};
    chain->at++;
    return true;
}

struct audit_rows test_chain_rows(struct test_chain *chain)
{
    chain->at = 0;
    return (struct audit_rows){next, chain};
}

void test_chain_fini(struct test_chain *chain)
{
    test_chain_remove(chain, 0, chain->count);
    free(chain->lines);
    *chain = (struct test_chain){0};
}
