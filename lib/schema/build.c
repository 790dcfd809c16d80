/*
 * build.c - builds a program, for all keywords alike. All data of its checks is copied into the
 * program, so that texts and indexes of the schema can be freed afterwards.
 */
#include "lib/schema/build.h"

#include "lib/base/rows.h"
#include "lib/json/number.h"
#include "lib/json/tree.h"

/* Digits of the largest count. */
enum { COUNT_DIGITS = 10 };

bool mx_build_spend(struct mx_build *build, uint64_t work)
{
    return !build->library->err && mx_library_spend(build->library, build->at, work);
}

void mx_build_op(struct mx_build *build, enum mx_class class, struct mx_op op)
{
    struct mx_compiled_schema *program = build->program;
    struct mx_op *place;

    if (!mx_make_room(&program->ops, program->op_count, &build->op_room, sizeof op)) {
        mx_library_starve(build->library);
        return;
    }
    place = program->ops + build->unit.begin + build->unit.end[class];
    memmove(place + 1, place, (size_t)(program->ops + program->op_count - place) * sizeof op);
    *place = op;
    program->op_count++;
    for (unsigned i = class; i < MX_CLASS_COUNT; i++)
        build->unit.end[i]++;
}

void *mx_build_take(struct mx_build *build, size_t bytes)
{
    void *taken = mx_arena_take(&build->program->arena, bytes);

    if (!taken)
        mx_library_starve(build->library);
    return taken;
}

struct mcpx_slice mx_build_text(struct mx_build *build, uint32_t node)
{
    return mx_library_text(build->library, &build->program->arena, build->tree, node);
}

uint32_t mx_build_unit_at(struct mx_build *build, struct mx_place place)
{
    uint32_t *number = &build->library->documents[place.document].unit_of[place.node];

    if (*number != MX_NONE)
        return *number;
    if (!mx_make_room(&build->wanted, build->wanted_count, &build->wanted_room,
                      sizeof place)) {
        mx_library_starve(build->library);
        return 0;
    }
    *number = (uint32_t)build->wanted_count;
    build->wanted[build->wanted_count++] = place;
    return *number;
}

uint32_t mx_build_unit(struct mx_build *build, uint32_t node)
{
    return mx_build_unit_at(build, (struct mx_place){build->at.document, node});
}

uint32_t mx_build_key_unit(struct mx_build *build, enum mx_keyword key)
{
    return build->value[key] ? mx_build_unit(build, build->value[key]) : MX_UNIT_NONE;
}

uint32_t *mx_build_units(struct mx_build *build, uint32_t array, uint32_t *count)
{
    const struct mx_tree *tree = build->tree;
    uint32_t *units, index = 0;

    *count = tree->nodes[array].count;
    units = mx_build_take(build, *count * sizeof *units);
    if (!units)
        return NULL;
    MX_EACH_ITEM(at, tree, array)
        units[index++] = mx_build_unit(build, at);
    return units;
}

uint32_t mx_build_count(struct mx_build *build, enum mx_keyword key, uint32_t other)
{
    struct mx_number number;
    uint64_t count = 0;

    if (!build->value[key] ||
        mx_tree_type(build->tree, build->value[key]) != MCPX_JSON_NUMBER ||
        !mx_number_read(mx_tree_bytes(build->tree, build->value[key]), &number))
        return other;
    if (number.negative || number.exponent < 0)
        return other; /* its meta-schema has refused it */
    if ((int64_t)number.count + number.exponent > COUNT_DIGITS)
        return UINT32_MAX - 1;
    for (size_t i = 0; i < number.digits.len; i++) {
        if (number.digits.text[i] != '.')
            count = count * 10 + (uint64_t)(number.digits.text[i] - '0');
    }
    for (int64_t i = 0; i < number.exponent; i++)
        count *= 10;
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX - 1;
}

const struct mx_regex *mx_build_regex(struct mx_build *build, uint32_t node)
{
    struct mx_compiled_schema *program = build->program;
    struct mcpx_slice text = mx_build_text(build, node);
    struct mx_place place = {build->at.document, node};
    struct mx_regex *regex = NULL;
    enum mcpx_err err = MCPX_ENOMEM;

    if (text.len > MCPX_SCHEMA_PATTERN_MAX)
        mx_library_refuse(build->library, place, "bounds",
                          "must not be a pattern longer than 4096 bytes");
    if (build->library->err)
        return NULL;
    if (mx_make_room(&program->regexes, program->regex_count, &build->regex_room,
                     sizeof *program->regexes))
        err = mx_regex_new(text, &regex, &program->regex_sums, &build->reason);
    if (err == MCPX_OK)
        program->regexes[program->regex_count++] = regex;
    else if (err == MCPX_ELIMIT)
        mx_library_refuse(build->library, place, "bounds",
                          "must not have patterns that come to more than 128 KiB");
    else if (err == MCPX_EPATTERN && !build->reason.failed)
        mx_library_refuse(build->library, place, "pattern", build->reason.text);
    else
        mx_library_starve(build->library);
    return regex;
}
