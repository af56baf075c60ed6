import fc from 'fast-check';

export const json = fc.jsonValue({ maxDepth: 3 });
const name = fc.constantFrom(
  'a',
  'b',
  'items',
  'summary',
  'labels',
  'vars',
  'steps',
  'constructor',
  '__proto__',
  'length',
);
const number = fc.oneof(fc.integer({ min: -5, max: 50 }), fc.constantFrom(0.1, 1e9, -0, 2 ** 53));

const reference = fc
  .tuple(
    fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/properties/a', '#/w', '#/w/q', '#/nowhere', 'http://x/y', '#a'),
    fc.constantFrom('', '', '', '#', '/#', '/', '/0', '/allOf/0', '%61', '~1q', '\u2028'),
  )
  .map((ends) => ends.join(''));
const named = fc.record({ $id: fc.constantFrom('#/$defs/a', '#/w', '#/w/q', '#/y').map((path) => `http://x/${path}`) });
/** Names that lead to each other, where no schema is expected. */
const circles = fc
  .record({ 'w/q': named, w: fc.record({ q: named }), y: named })
  .map((names) => ({ $id: 'http://x/', $ref: '#/$defs/a', $defs: { a: {} }, ...names }));

/** Schemas with references, alternatives and keywords that cost work; often with faults. */
const anySchema = fc.letrec<{ node: unknown; leaf: unknown; list: unknown[]; map: Record<string, unknown> }>((tie) => ({
  leaf: fc.oneof(
    fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object', 'nope') }),
    fc.record({ enum: fc.array(json, { maxLength: 3 }) }),
    fc.record({ $ref: reference }),
    fc.record({ $anchor: fc.constantFrom('a', 'b') }),
    fc.record({
      pattern: fc.oneof(
        fc.string({ maxLength: 10 }),
        fc.constantFrom('^(a+)+$', '(?=a)', '[', '\\p{L}+', '(?i)[B-\u{1e942}]'),
      ),
    }),
    fc.boolean(),
    json,
  ),
  list: fc.array(tie('node'), { maxLength: 4 }),
  map: fc.dictionary(name, tie('node'), { maxKeys: 4 }),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('leaf'),
    fc.record(
      {
        type: fc.constantFrom('object', 'array', ['string', 'null']),
        properties: tie('map'),
        additionalProperties: tie('node'),
        required: fc.array(name, { maxLength: 3 }),
        items: tie('node'),
        prefixItems: tie('list'),
        anyOf: tie('list'),
        oneOf: tie('list'),
        allOf: tie('list'),
        not: tie('node'),
        if: tie('node'),
        then: tie('node'),
        uniqueItems: fc.boolean(),
        minItems: number,
        maxLength: number,
        multipleOf: number,
        format: fc.constantFrom('date-time', 'uri', 'unknown'),
        $defs: tie('map'),
        $id: fc.constantFrom('http://x/', 'a'),
        $dynamicAnchor: fc.constantFrom('a', 'b', 'c'),
        $recursiveAnchor: fc.boolean(),
        w: tie('node'),
        'w/q': tie('node'),
      },
      { requiredKeys: [] },
    ),
  ),
})).node;

export const jsonSchema = fc.oneof({ weight: 4, arbitrary: anySchema }, circles);

/** Joins parts of a language by chance; what is no sentence of it has to be refused. */
const sentence = (parts: fc.Arbitrary<string>, maxLength = 14): fc.Arbitrary<string> =>
  fc.array(parts, { maxLength }).map((list) => list.join(''));

export const expression = fc.letrec<{ value: string; operand: string }>((tie) => ({
  operand: fc.oneof(
    name,
    number.map(String),
    fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'null', '[]', '{}', '[1, "a", null]', '{"a": 1}', 'b"x"', '1u', '"a" in labels'),
  ),
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('operand'),
    fc
      .tuple(
        tie('value'),
        fc.constantFrom('==', '!=', '<', '>=', '+', '-', '*', '/', '%', '&&', '||', ' in '),
        tie('value'),
      )
      .map(([left, operator, right]) => `(${left}${operator}${right})`),
    fc.tuple(tie('value'), name).map(([of, key]) => `${of}.${key}`),
    fc.tuple(tie('value'), tie('value')).map(([of, index]) => `${of}[${index}]`),
    fc
      .tuple(
        tie('value'),
        fc.constantFrom('contains', 'startsWith', 'matches', 'split', 'indexOf', 'join'),
        tie('value'),
      )
      .map(([of, method, argument]) => `${of}.${method}(${argument})`),
    fc
      .tuple(tie('value'), fc.constantFrom('all', 'exists', 'map', 'filter', 'exists_one'), tie('value'))
      .map(([of, macro, body]) => `${of}.${macro}(x, ${body})`),
    fc
      .tuple(fc.constantFrom('size', 'string', 'int', 'double', 'has', 'type', 'duration'), tie('value'))
      .map(([call, of]) => `${call}(${of})`),
    fc.tuple(tie('value'), tie('value'), tie('value')).map(([when, then, other]) => `(${when} ? ${then} : ${other})`),
  ),
})).value;

export const template = sentence(
  fc.oneof(
    fc.string({ maxLength: 6 }),
    name.map((path) => `{{${path}}}`),
    fc.tuple(name, name).map(([a, b]) => `{{vars.value.${a}.${b}}}`),
    fc.constantFrom(
      '{{#each vars.value}}',
      '{{#if summary}}',
      '{{#with labels}}',
      '{{else}}',
      '{{/each}}',
      '{{/if}}',
      '{{/with}}',
    ),
    fc.constantFrom(
      '{{{summary}}}',
      '{{> x}}',
      '{{lookup labels "a"}}',
      '{{../summary}}',
      '{{@index}}',
      '{{this}}',
      '{{',
      '}}',
      '{{!-- c --}}',
      '{{~a~}}',
    ),
  ),
);

export const pattern = sentence(
  fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.constantFrom(
      '(',
      ')',
      '(a+)+',
      '[a-z]',
      '[^',
      '\\d',
      '\\1',
      '(?i)',
      '(?=',
      '{2,3}',
      '{1000}',
      '*',
      '+?',
      '|',
      '^',
      '$',
      '\\p{L}',
      '.',
      '[]B-\u{1e942}',
      '[^!-\\x{1e942}]',
      '\\Q[\\E',
      '\\Q\\E',
      '(?s-m)',
      '(?:abcdefghij)',
      '[](]',
      '[[:alpha:](]',
      ']',
    ),
  ),
);

/** A text with a few pieces cut out and others put in. */
export const edited = (text: string): fc.Arbitrary<string> => {
  const piece = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.constantFrom(
      '\n',
      ': ',
      '- ',
      '{',
      '}',
      '[',
      ']',
      '&a ',
      '*a',
      '<<: ',
      '!!js ',
      '"',
      "'",
      '|\n',
      '\t',
      '? ',
      '\u2028',
      '\0',
      '  ',
    ),
  );
  const edit = fc.record({ at: fc.nat(text.length), cut: fc.nat(12), put: piece });
  return fc
    .array(edit, { maxLength: 6 })
    .map((edits) => edits.reduce((now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut), text));
};
