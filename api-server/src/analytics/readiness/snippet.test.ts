import { Readiness, resolveSet } from '@signalbox/crds';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Snippet, snippetOf } from './snippet.ts';
import { type ApplyTo, withReadiness } from './with-readiness.ts';

const LIBRARY = {
  file: 'first.yaml',
  text: 'name: first\nexecutor: gateway\nagent: a\nprompt_template: Look\nreadiness: {operational: {min_runs: 9}}\n',
};
const load = (text: string) => {
  const { pipelines, problems } = resolveSet({ pipelines: [{ file: 'checkout.yaml', text }], steps: [LIBRARY] });
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return pipelines[0]!.config;
};

/** Does what the first sentence of the hint says, and nothing else. */
function paste(text: string, { hint, indented }: Snippet): string {
  const [sentence = ''] = hint.split(/(?<=\.) (?=In )/);
  const lines = text.split('\n');
  const place = (pattern: RegExp) => pattern.exec(sentence)?.slice(1).map(Number);
  const below = place(/: below line (\d+)\.$/);
  if (below) return lines.toSpliced(below[0]!, 0, indented.trimEnd()).join('\n');
  const range = place(/: in place of lines? (\d+)(?: to (\d+))?\.$/);
  if (range) {
    const [from = 0, to] = range;
    return lines.toSpliced(from - 1, (to || from) - from + 1, indented.trimEnd()).join('\n');
  }
  const brace = place(/right after the opening brace on line (\d+)\.$/);
  if (brace) return lines.with(brace[0]! - 1, lines[brace[0]! - 1]!.replace('{', `{${indented}`)).join('\n');
  const within = place(/in place of "readiness: {…}" in the braces on line (\d+)\.$/);
  if (within) {
    const line = lines[within[0]! - 1]!;
    return lines
      .with(within[0]! - 1, line.replace(/readiness: \{(\{[^}]*\}|[^{}])*(\{[^}]*\})?[^{}]*\}/, indented))
      .join('\n');
  }
  throw new Error(`nobody understands: ${sentence}`);
}

const HEAD = '# ours\nname: checkout # the shop\nstage: testing\n';
const STEPS = `steps:
  # looks
  - name: look
    use: first
  - {name: braces, use: first, confidence_threshold: 0.5}
  - name: had
    executor: gateway
    agent: a
    prompt_template: >-
      Look here
    readiness:
      accuracy: {min_marked: 3}
      # this one matters

      operational:
        min_runs: 2

    # the threshold
    confidence_threshold: 0.7
  - name: last
    readiness: {accuracy: {min_marked: 3}, confidence: {}}
    use: first
  - name: gather
    parallel:
      steps:
        - name: metrics
          use: first
        - {name: changes, readiness: {accuracy: {min_marked: 3}}, use: first}
  - use: first
    name: late
`;
const FILES = {
  'without criteria': HEAD + STEPS,
  'with criteria': `${HEAD}readiness:\n  accuracy: {}\n${STEPS}`,
  'with criteria at the end': `${HEAD}${STEPS}readiness: {calibration: {n_min: 7}}\n`,
  'in a list that is not indented': HEAD + STEPS.replace(/^ {2}(?=[ -])/gm, ''),
  'without a line at the end': (HEAD + STEPS).trimEnd(),
};
const NAMES = ['look', 'braces', 'had', 'last', 'gather', 'metrics', 'changes', 'late'];
const TIERS = { accuracy: { min_marked: 10 }, operational: { min_success_rate: 0.9 } };

const target = (text: string) => ({ text, file: 'checkout.yaml', managed: false });
const places = Object.entries(FILES).flatMap(([name, text]) =>
  [null, ...NAMES].map((step) => [step ?? 'the pipeline', name, step === null ? null : [step], text] as const),
);

test.each(places)(
  'pasted where the hint says it is in force and nothing else changed: %s of a file %s',
  (_, _file, applyTo, text) => {
    const pipeline = load(text);
    const pasted = paste(text, snippetOf(pipeline, TIERS, applyTo, target(text)));
    expect(load(pasted)).toEqual(withReadiness(pipeline, Readiness.parse(TIERS), applyTo).pipeline);
  },
);

test('any criteria can be pasted', () => {
  const ratio = fc.double({ min: 0, max: 1, noNaN: true });
  const n = fc.integer({ min: 1, max: 10_000 });
  const record = <T>(keys: Record<string, fc.Arbitrary<T>>) => fc.record(keys, { requiredKeys: [] });
  const criteria = record<unknown>({
    operational: record({ min_runs: n, min_success_rate: ratio }),
    confidence: record({ min_runs: n, min_pass_rate: ratio }),
    accuracy: record({ min_marked: n, min_accuracy: ratio }),
    calibration: record({ n_min: n, max_gap: ratio, min_coverage: ratio }),
  });
  fc.assert(
    fc.property(criteria, fc.constantFrom(...places), (written, [, , applyTo, text]) => {
      const pipeline = load(text);
      const snippet = snippetOf(pipeline, written, applyTo, target(text));
      expect(parse(snippet.yaml)).toEqual({ readiness: written });
      expect(load(paste(text, snippet))).toEqual(withReadiness(pipeline, Readiness.parse(written), applyTo).pipeline);
    }),
    { numRuns: 60 },
  );
});

test('several steps: the place of each', () => {
  const text = FILES['without criteria'];
  expect(snippetOf(load(text), TIERS, ['look', 'braces'], target(text)).hint).toBe(
    'In checkout.yaml, step "look": below line 6. In checkout.yaml, step "braces": right after the opening brace on line 8.',
  );
});

test.each([
  ['an alias', 'name: checkout\nvars: {x: &x {use: first, name: look}}\nsteps:\n  - *x\n', ['look']],
  ['a key behind the dash', 'name: checkout\nsteps:\n  - readiness: {}\n    name: look\n    use: first\n', ['look']],
])('where the text has no place of its own, the hint says what to look for: %s', (_, text, applyTo: ApplyTo) => {
  expect(snippetOf(load(text), TIERS, applyTo, target(text))).toMatchObject({
    hint: 'In checkout.yaml, beside the other keys of step "look", in place of a readiness that is there.',
    indented: expect.stringMatching(/^ {4}readiness:\n {6}accuracy:/),
  });
});

test('what comes from a custom resource is changed there', () => {
  const text = FILES['without criteria'];
  const snippet = snippetOf(load(text), TIERS, ['metrics'], { ...target(text), managed: true });
  expect(snippet.hint).toContain(
    'In the Pipeline object that "checkout" comes from, or its manifest in Git: under spec.steps, in branch "metrics"',
  );
  expect(snippet.indented).toMatch(/^ {12}readiness:\n {14}accuracy:/);
});
