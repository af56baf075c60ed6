import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { toManifest } from './manifest.ts';

const YAML = `# who is called at night
name: checkout   # never rename
# production once ready
stage: testing
steps:
  - name: look # the only one
    executor: gateway
    agent: investigator
    prompt_template: |
      What happened to \${SHOP}?
      {{summary}}
`;

test('a pipeline becomes the object of the same name, with its comments', () => {
  const manifest = toManifest('pipeline', 'checkout', YAML);
  const { name: _, ...spec } = parse(YAML);
  expect(parse(manifest)).toEqual({
    apiVersion: 'signalbox.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'checkout' },
    spec,
  });
  expect(manifest).toContain('# production once ready');
  expect(manifest).toContain('# the only one');
});

test.each([
  ['Checkout_API', 'checkout-api'],
  ['a-', 'a'],
])('spec.name is there where the object cannot be called %s', (name, object) => {
  expect(parse(toManifest('step', name, `{name: ${name}, executor: webhook, url: "\${URL}"}`))).toEqual({
    apiVersion: 'signalbox.dev/v1alpha1',
    kind: 'LibraryStep',
    metadata: { name: object },
    spec: { name, executor: 'webhook', url: '${URL}' },
  });
});

test('anchors still lead where they led', () => {
  const manifest = toManifest('pipeline', 'a', 'name: a\nvars: {x: &x [1]}\nsteps: *x\n');
  expect(parse(manifest).spec).toEqual({ vars: { x: [1] }, steps: [1] });
});
