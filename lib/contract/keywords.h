/*
 * keywords.h - from the keywords of a subschema to its checks. Each function looks at a group of
 * them and adds what checks they need.
 */
#ifndef MX_KEYWORDS_H
#define MX_KEYWORDS_H

#include "lib/contract/build.h"

/** type, enum, const. */
void mx_keywords_value(struct mx_build *build);

/** pattern; minLength, maxLength, minItems, maxItems, minProperties, maxProperties. */
void mx_keywords_string(struct mx_build *build);

/** minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf. */
void mx_keywords_number(struct mx_build *build);

/** properties, patternProperties, additionalProperties, propertyNames, required. */
void mx_keywords_object(struct mx_build *build);

/** dependentRequired, dependentSchemas, dependencies. */
void mx_keywords_dependent(struct mx_build *build);

/** prefixItems, items, additionalItems, contains, uniqueItems. */
void mx_keywords_array(struct mx_build *build);

/** allOf, anyOf, oneOf, not, if, then, else. */
void mx_keywords_logic(struct mx_build *build);

/** $ref, $dynamicRef. */
void mx_keywords_refer(struct mx_build *build);

/** unevaluatedItems, unevaluatedProperties. */
void mx_keywords_unevaluated(struct mx_build *build);

#endif
