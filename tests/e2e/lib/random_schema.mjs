/*
 * random_schema.mjs - random schemas of both dialects and random documents, the same for the same seed.
 * Names and values are few, so that many documents fit, and numbers are such that doubles hold.
 */
const NAMES = ['a', 'b', 'c', 'foo', 'x1', 'é'];
const PATTERNS = ['^a', 'b$', '^[a-c]+$', '\\d', '^.$', 'é', 'o{2}', '^(a|b)*$', '^\\p{Lu}|\\p{Script=Latin}\\S$', '(?=.o)[^a]',
  '^(.)\\1?$', '(?<!a)b', '[]'];
const TYPES = ['string', 'integer', 'number', 'object', 'array', 'boolean', 'null'];

/** A source of numbers: random(n) is one from 0 to n - 1. */
export function source(seed) {
  let state = seed;
  return (count) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % count;
  };
}

/** Random schemas and documents. `draft` is '2020-12' or 'draft-07'. */
export function maker(random, draft) {
  const is07 = draft === 'draft-07';
  const pick = (list) => list[random(list.length)];
  const times = (count, make) => Array.from({ length: count }, make);
  const unique = (list) => [...new Map(list.map((item) => [JSON.stringify(item), item])).values()];

  function document(depth = 0) {
    const kinds = [
      () => random(7) - 2,
      () => pick([0.5, 1.5, 2.25, -1.5, 100]),
      () => pick(['', 'a', 'b', 'ab', 'abc', 'é', 'foo', 'x1', 'a\nb']),
      () => pick([true, false]),
      () => null,
      () => Object.fromEntries(times(random(4), () => [pick(NAMES), document(depth + 1)])),
      () => times(random(4), () => document(depth + 1)),
    ];
    return kinds[random(depth > 2 ? 5 : kinds.length)]();
  }

  const few = (depth) => times(2, () => schema(depth + 1));
  const map = (keys, depth) => Object.fromEntries(keys.map((key) => [key, schema(depth + 1)]));
  const keywords = [
    () => ({ type: random(3) ? pick(TYPES) : unique([pick(TYPES.slice(0, 2)), pick(TYPES.slice(3))]) }),
    () => ({ enum: unique(times(1 + random(4), () => document(1))) }),
    () => ({ const: document(1) }),
    () => ({ minimum: random(5) - 1 }),
    () => ({ maximum: random(5) - 1 }),
    () => ({ exclusiveMinimum: random(4) - 1 }),
    () => ({ exclusiveMaximum: random(4) }),
    () => ({ multipleOf: pick([1, 2, 0.5, 0.25]) }),
    () => ({ minLength: random(3) }),
    () => ({ maxLength: random(4) }),
    () => ({ pattern: pick(PATTERNS) }),
    () => ({ minItems: random(3) }),
    () => ({ maxItems: random(3) }),
    () => ({ uniqueItems: true }),
    () => ({ minProperties: random(3) }),
    () => ({ maxProperties: random(3) }),
    () => ({ required: unique([pick(NAMES), pick(NAMES)]) }),
    (depth) => ({ properties: map(times(1 + random(3), () => pick(NAMES)), depth) }),
    (depth) => ({ properties: map(times(1 + random(3), () => pick(NAMES)), depth) }),
    (depth) => ({ patternProperties: map([pick(PATTERNS)], depth) }),
    (depth) => ({ additionalProperties: schema(depth + 1) }),
    (depth) => ({ propertyNames: schema(depth + 2) }),
    (depth) => ({ items: is07 && random(2) ? few(depth) : schema(depth + 1) }),
    (depth) => (is07 ? { additionalItems: schema(depth + 1) } : { prefixItems: few(depth) }),
    (depth) => ({ contains: schema(depth + 1), ...(is07 ? {} : { minContains: random(3), maxContains: 1 + random(3) }) }),
    (depth) => ({ allOf: few(depth) }),
    (depth) => ({ anyOf: few(depth) }),
    (depth) => ({ oneOf: few(depth) }),
    (depth) => ({ not: schema(depth + 1) }),
    (depth) => ({ if: schema(depth + 1), then: schema(depth + 1), else: schema(depth + 1) }),
    (depth) =>
      is07
        ? { dependencies: { [pick(NAMES)]: random(2) ? [pick(NAMES)] : schema(depth + 1) } }
        : { dependentSchemas: map([pick(NAMES)], depth) },
    () => (is07 ? { dependencies: { [pick(NAMES)]: [pick(NAMES)] } } : { dependentRequired: { [pick(NAMES)]: [pick(NAMES)] } }),
    () => (is07 ? { $comment: 'x', readOnly: true } : { $comment: 'x', deprecated: true, contentEncoding: 'base64' }),
    (depth) => ({ title: 'x', default: document(2), examples: [schema(depth + 2)] }),
    (depth) => ({ properties: map(NAMES, depth + 1), required: NAMES.slice(random(5)), additionalProperties: random(2) > 0 }),
    (depth) => ({ items: schema(depth + 1), minItems: 1, uniqueItems: random(2) > 0, contains: schema(depth + 2) }),
    () => ({ type: ['number', 'string'], minimum: 0, maximum: 2, minLength: 1, maxLength: 3, pattern: pick(PATTERNS) }),
    (depth) => (is07 ? { not: schema(depth + 1) } : { unevaluatedProperties: schema(depth + 2) }),
    (depth) => (is07 ? { not: schema(depth + 1) } : { unevaluatedItems: schema(depth + 2) }),
  ];

  function schema(depth) {
    if (depth > 3 || random(12) === 0) return pick([true, false, {}, { type: pick(TYPES) }]);
    /* Draft-07 (8.3) ignores what stands beside a $ref; ajv does not. */
    if (random(12) === 0) return { ...(is07 ? {} : pick(keywords)(depth + 1)), $ref: pick(['#/$defs/x', '#/$defs/y', '#named']) };
    return Object.assign({}, ...times(1 + random(random(4) ? 3 : 8), () => pick(keywords)(depth)));
  }

  /** A schema with `$schema` and two others that it may refer to. */
  function whole() {
    const $schema = is07 ? 'http://json-schema.org/draft-07/schema#' : 'https://json-schema.org/draft/2020-12/schema';
    const $defs = { x: schema(2), y: schema(2) };
    const named = { ...pick(keywords)(2), ...(is07 ? { $id: '#named' } : { $anchor: 'named' }) };
    return Object.assign({}, ...times(2 + random(4), () => pick(keywords)(0)),
      { $schema, $defs, ...(is07 ? { definitions: { named } } : { $defs: { ...$defs, named } }) });
  }

  return { document, whole };
}

/* Of ECMA-262, and of PCRE2 alone. */
const PROPERTIES = ['Lu', 'L', 'Letter', 'LC', 'Script=Han', 'sc=Hira', 'scx=Kana', 'Script_Extensions=Latin', 'gc=Nd',
  'General_Category=P', 'Alphabetic', 'ASCII', 'Any', 'Assigned', 'White_Space', 'ID_Start', 'sc=Zyyy', 'Script=Inherited'];
const OTHER_PROPERTIES = ['Han', 'Script=han', 'script=Han', 'L&', '^Lu', 'lu', 'Xan', 'InGreek', '', ' Lu', 'sc=Lu', 'gc=Han',
  'Script=', 'sc=Ha_N'];
const CHARACTERS = ['a', 'b', 'c', 'A', '1', '_', '-', 'é', '、', '😀', ' ', '/', ',', '"', '.', '\n'];
const ESCAPES = ['.', '\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\n', '\\t', '\\v', '\\x61', '\\u0061', '\\u{61}',
  '\\u{0001f600}', '\\ud83d\\ude00', '\\cA', '\\0', '\\.', '\\/', '\\(', '\\-'];
const ODDITIES = ['\\07', '\\10', '\\8', '\\Z', '\\A', '\\Q', '\\h', '\\N', '\\e', '\\a', '\\g1', '\\k', '\\K', '\\R', '\\X',
  '\\pL', '\\u12', '\\x1', '\\c', '\\_', '\\"', '{', ']', '}', 'a{,2}', '(?i)', '(?i:a)', '(?>a)', '(?#a)', '(?|a)', '(?P<n>a)',
  '(*F)', '[', '(', ')', '*', 'a{2}{2}', 'a++', '[[:alpha:]]', '\\ud83d', '\\u{110000}', 'a{1,2,3}', 'a{2,1}', '\\',
  '(?<=a)*', '(?=a)*', '^*', '\\b+', '(?<1>a)', '\\p{Bidi_M}'];
const CLASS_CHARACTERS = ['a', 'b', '-', '_', '1', '[', '^', '.', '$', '*', 'é', ':', '😀', '\\b', '\\-', '\\]', '\\^', '\\n',
  '\\0'];
const RANGES = ['a-c', '0-9', 'A-Z', '--a', '!-~', 'à-ÿ', '\\x00-\\x1f', 'z-a', '\\u0041-\\u{5a}', '\\t-\\r', 'a-c-e',
  '\\--\\/'];
const CLASS_ODDITIES = ['\\w-', '-\\d', 'a-\\d', '\\w-.', '\\B', '\\1', '\\k', '\\_', '[:digit:]', '&&', '--'];
const QUANTIFIERS = ['*', '+', '?', '{2}', '{0}', '{1}', '{1,2}', '{0,1}', '{2,}', '*?', '+?', '??', '{1,2}?'];

/** Random patterns, most of them of ECMA-262 with the flag u, and texts for them. */
export function patternMaker(random) {
  const pick = (list) => list[random(list.length)];
  const times = (count, make) => Array.from({ length: count }, make);
  const property = () => `\\${pick(['p', 'P'])}{${pick(random(12) ? PROPERTIES : OTHER_PROPERTIES)}}`;
  const classItems = [() => pick(CLASS_CHARACTERS), () => pick(RANGES), () => pick(ESCAPES), property,
    () => (random(6) ? 'a' : pick(CLASS_ODDITIES))];
  const characters = () => `[${random(3) ? '' : '^'}${times(random(4), () => pick(classItems)()).join('')}]`;
  const atoms = [
    () => pick(CHARACTERS), () => pick(CHARACTERS.slice(0, 3)), () => pick(ESCAPES), property, characters,
    (depth) => `(${branches(depth)})`, (depth) => `(${branches(depth)})`, (depth) => `(?:${branches(depth)})`,
    (depth) => `(?<${pick(['n', 'm', '$x', '_1'])}>${branches(depth)})`,
    (depth) => `(?${pick(['=', '!', '<=', '<!'])}${branches(depth)})`,
    () => pick(random(3) ? ['a', '(a)\\1', '(a|b*)\\1'] : ['\\1', '\\2', '\\k<n>']), () => pick(['^', '$', '\\b', '\\B']),
    () => (random(9) ? 'a' : pick(ODDITIES)),
  ];
  const term = (depth) => (depth > 3 ? pick(['a', 'b']) : pick(atoms)(depth + 1)) + (random(3) ? '' : pick(QUANTIFIERS));
  const sequence = (depth) => times(1 + random(4), () => term(depth)).join('');
  const branches = (depth) =>
    times(random(4) ? 1 : 2 + random(2), () => (random(8) ? sequence(depth) : '')).join('|');
  const pattern = () => `${random(2) ? '^' : ''}${branches(0)}${random(2) ? '$' : ''}`;
  const text = () => times(random(6), () => pick(random(2) ? CHARACTERS : ['a', 'b', 'c', 'ー', 'α', '[', ']', '\\'])).join('');
  return { pattern, text };
}
