import {
  compileExpression,
  compileJsonSchema,
  compileMatch,
  compileRegex,
  compileTemplate,
  parseYaml,
  resolveSet,
} from '@signalbox/crds';
import fc from 'fast-check';
import { patternSize } from '../../crds/src/language/pattern-size.ts';
import { sources } from '../../api-server/src/triggers/sources/index.ts';
import { edited, expression, jsonSchema, json, pattern, template } from './grammars.ts';
import { repeats } from './repeats.ts';
import { WHOLE } from './whole.ts';

/** One thing that reads what others wrote. `run` throws where it breaks its word: it never throws itself, and answers in time. */
export interface Target<T = unknown> {
  name: string;
  cases: fc.Arbitrary<T>;
  run(value: T): void;
}

const target = <T>(name: string, cases: fc.Arbitrary<T>, run: (value: T) => void): Target => ({ name, cases, run });

const CONTEXT = {
  summary: 'disk full on node-1',
  severity: 'critical',
  labels: { service: 'checkout', namespace: 'shop' },
  metadata: { count: 3 },
  vars: { a: 'x', list: [1, 2, 3], deep: { b: [{ c: 'y' }] } },
  steps: { one: { output: { items: ['a', 'b'] }, summary: 's' } },
};

export const TARGETS: readonly Target[] = [
  target('schemas', fc.tuple(jsonSchema, fc.array(json, { maxLength: 4 })), ([schema, answers]) => {
    const compiled = compileJsonSchema(schema);
    for (const answer of answers) if (compiled.ok) compiled.validate(answer);
    if (!compiled.ok && compiled.msg === '') throw new Error('a refusal without a reason');
  }),
  target('expressions', expression, (source) => {
    const compiled = compileExpression(source);
    const result = compiled.ok ? compiled.expression.evaluate(CONTEXT) : null;
    if (result?.ok && JSON.stringify(result.value) === undefined) throw new Error('the value is no JSON');
  }),
  target('templates', fc.tuple(template, json), ([source, value]) => {
    const compiled = compileTemplate(source, { sandbox: true });
    const result = compiled.ok ? compiled.template.render({ ...CONTEXT, vars: { value } }) : null;
    if (
      result?.ok &&
      /\[object |__proto__|native code/.test(result.text) &&
      !/object |proto|native/.test(source + JSON.stringify(value))
    )
      throw new Error('the text shows what no value holds');
  }),
  target('patterns', fc.tuple(pattern, fc.string({ maxLength: 200 })), ([source, text]) => {
    const compiled = compileRegex(source);
    const once = compiled.ok && compiled.test(text);
    if (compiled.ok && compiled.test(text) !== once) throw new Error('two answers about one text');
    if (compiled.ok && compiled.size > 2 * patternSize(source) + 5)
      throw new Error('a pattern larger than its text tells');
    compileMatch({ summary: { regex: source } }).matches({ summary: text });
  }),
  target('yaml', edited(WHOLE), (text) => {
    parseYaml(text);
    const { pipelines, problems } = resolveSet({ pipelines: [{ file: 'p.yaml', text }], steps: [] });
    const refused = problems.some(({ severity }) => severity === 'error');
    if (pipelines.length === 0 && !refused) throw new Error('a pipeline is left out without a problem');
    if (pipelines.length > 0 && refused) throw new Error('a pipeline with an error is served');
  }),
  target('definitions', repeats, (definition) => {
    const { pipelines, problems } = resolveSet({
      pipelines: [{ file: 'p.yaml', text: JSON.stringify(definition) }],
      steps: [],
    });
    if (pipelines.length === 0 && problems.length === 0) throw new Error('a pipeline is left out without a problem');
  }),
  target('deliveries', fc.tuple(fc.constantFrom(...sources.keys()), deliveryOf()), ([name, body]) => {
    for (const strategy of [null, 'most_severe', 'common_labels', 'per_alert']) {
      const parsed = sources.get(name)?.parse(body, { strategy, receivedAt: 0 });
      if (parsed?.ok && parsed.contexts.length === 0) throw new Error('accepted, and nothing to do');
      for (const { labels } of parsed?.ok ? parsed.contexts : [])
        if (Object.values(labels).some((value) => typeof value !== 'string')) throw new Error('a label is no text');
    }
  }),
];

/** Bodies that are nearly those of Alertmanager. */
function deliveryOf(): fc.Arbitrary<unknown> {
  const texts = fc.dictionary(fc.string({ maxLength: 12 }), fc.oneof(fc.string({ maxLength: 40 }), json), {
    maxKeys: 5,
  });
  const alert = fc.record(
    {
      status: fc.oneof(fc.constantFrom('firing', 'resolved'), json),
      labels: fc.oneof(texts, json),
      annotations: fc.oneof(texts, json),
      startsAt: fc.oneof(fc.constant('2026-11-23T06:00:00Z'), fc.string({ maxLength: 30 })),
      fingerprint: fc.oneof(fc.string({ maxLength: 20 }), json),
    },
    { requiredKeys: [] },
  );
  const group = fc.record(
    { alerts: fc.oneof(fc.array(alert, { maxLength: 5 }), json), commonLabels: texts, version: json, groupKey: json },
    { requiredKeys: ['alerts'] },
  );
  const generic = fc.record(
    {
      pipeline: fc.oneof(fc.string({ maxLength: 20 }), json),
      event: json,
      summary: json,
      data: texts,
      idempotency_key: json,
    },
    { requiredKeys: ['pipeline'] },
  );
  return fc.oneof(group, generic, json);
}
