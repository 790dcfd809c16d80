/*
 * keyword.c - finding a keyword by its name. A schema's names are looked up one after another, most
 * of them keywords, so they are found by the hash that the indexed text has anyway.
 */
#include "lib/contract/keyword.h"

#include "lib/contract/name_hash.h"

#define ROW(constant, name, drafts, vocabulary, shape)                                        \
    {{name, sizeof(name) - 1}, 0, drafts, MX_VOCABULARY_##vocabulary, MX_SHAPE_##shape},
static const struct mx_keyword_row keywords[] = {MX_KEYWORDS(ROW)};
#undef ROW

void mx_keyword_table_fill(struct mx_keyword_table *table)
{
    memcpy(table->rows, keywords, sizeof keywords);
    memset(table->slots, 0, sizeof table->slots);
    for (size_t i = 0; i < MX_KEY_COUNT; i++) {
        uint32_t hash = mx_name_hash(keywords[i].name);
        size_t slot = hash % 256;

        table->rows[i].hash = hash;
        while (table->slots[slot])
            slot = (slot + 1) % 256;
        table->slots[slot] = (uint8_t)(i + 1);
    }
}

enum mx_keyword mx_keyword_find(const struct mx_keyword_table *table, struct mcpx_slice name,
                                uint32_t hash, struct mx_manner manner)
{
    for (size_t slot = hash % 256; table->slots[slot]; slot = (slot + 1) % 256) {
        const struct mx_keyword_row *row = &table->rows[table->slots[slot] - 1];

        if (row->hash == hash && mcpx_slice_equal(row->name, name))
            return (row->drafts & manner.draft) && (row->vocabulary & manner.vocabularies)
                       ? (enum mx_keyword)(row - table->rows)
                       : MX_KEY_COUNT;
    }
    return MX_KEY_COUNT;
}
