import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FoundFile } from './classify.ts';
import { report } from './report.ts';

const step: FoundFile = {
  path: 'repo/steps/s.yaml',
  text: 'name: s\nexecutor: gateway\nagent: a\nprompt_template: hi\n',
};
const pipeline: FoundFile = {
  path: 'repo/pipelines/p.yaml',
  text: '# first\n\nname: p\nsteps:\n  - {name: x, use: s}\n',
};
const agent: FoundFile = { path: 'repo/agents/a/agent.yaml', text: 'name: a\nmodel: m\n', soul: 'You are.' };

test('a sound folder is counted', () => {
  expect(report([step, pipeline, agent])).toEqual({
    definitions: 3,
    errors: 0,
    warnings: 0,
    lines: ['3 definitions read: 1 pipeline, 1 library step and 1 agent are valid; 0 errors, 0 warnings'],
  });
});

test('a problem is one line with file, line and column', () => {
  const { lines, errors } = report([{ ...pipeline, text: '# first\n\nname: p\nsteps:\n  - {name: x, use: nope}\n' }]);
  expect(errors).toBe(1);
  expect(lines[0]).toBe('repo/pipelines/p.yaml:5:15: error: steps.0.use: library step "nope" does not exist');
});

const manifests = `apiVersion: v1
kind: ConfigMap
metadata: {name: x}
data: {a: !vault b}
---
# ours
apiVersion: signalbox.dev/v1alpha1
kind: Pipeline
metadata:
  name: from-manifest
spec:
  stage: prod
  steps:
    - name: q
      use: s
---
apiVersion: signalbox.dev/v1alpha1
kind: Agent
metadata: {name: Bad.Name}
spec: {model: m, soul: You are.}
`;

test('manifests are checked at their own lines and other kinds are skipped with a word', () => {
  const { lines, errors, definitions } = report([step, { path: 'm.yaml', text: manifests }]);
  expect(lines.slice(0, 3)).toEqual([
    'm.yaml: skipped: ConfigMap is not a kind of Signalbox',
    expect.stringMatching(/^m\.yaml:12:3: error: stage: expected/),
    expect.stringMatching(/^m\.yaml:19:12: error: name: must be/),
  ]);
  expect({ errors, definitions }).toEqual({ errors: 2, definitions: 3 });
});

test('the same definition in two documents of a file is found', () => {
  const document = `apiVersion: signalbox.dev/v1alpha1\nkind: LibraryStep\nmetadata: {name: s}\nspec: {executor: human, timeout_seconds: 5, prompt_template: ok}\n`;
  expect(report([{ path: 'm.yaml', text: `${document}---\n${document}` }]).lines[0]).toMatch(
    /^m\.yaml:8:12: error: name: "s" is already defined in m\.yaml#1/,
  );
});

test('what is no definition is skipped with a word', () => {
  expect(
    report([
      { path: 'values.yaml', text: 'replicas: 1\n' },
      { path: 'empty.yaml', text: '\n# nothing\n' },
      { path: 'list.yaml', text: '- a\n' },
    ]),
  ).toMatchObject({
    definitions: 0,
    lines: [
      expect.stringContaining('not a definition'),
      'empty.yaml: skipped: empty',
      'list.yaml: skipped: no map of keys',
      expect.any(String),
    ],
  });
});

test('in a folder of definitions what is no map is an error, as it is for the services', () => {
  const { lines, errors } = report([
    { path: 'pipelines/empty.yaml', text: '' },
    { path: 'steps/list.yaml', text: '- a\n' },
  ]);
  expect(lines.slice(0, 2)).toEqual([
    'pipelines/empty.yaml:1:1: error: not a definition: empty',
    'steps/list.yaml:1:1: error: not a definition: no map of keys',
  ]);
  expect(errors).toBe(2);
});

test('any files are reported on and never thrown at', () => {
  const path = fc.constantFrom('pipelines/a.yaml', 'steps/b.yaml', 'agents/c/agent.yaml', 'd.yaml');
  const text = fc.oneof(
    fc.string(),
    fc
      .array(
        fc.constantFrom(
          '---\n',
          'kind: Pipeline\n',
          'apiVersion: signalbox.dev/v1alpha1\n',
          'spec: {}\n',
          'spec:\n  steps: [1]\n',
          'metadata: {name: x}\n',
          'x: [\n',
        ),
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(fc.array(fc.record({ path, text }), { maxLength: 5 }), (files) => report(files).lines.length > 0),
  );
});
