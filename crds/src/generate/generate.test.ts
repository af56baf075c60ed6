import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { customResourceDefinitions, KINDS } from './crd.ts';
import { generatedFiles } from './files.ts';
import { fold } from './fold.ts';
import { at, type Schema, writtenSchemas } from './json-schemas.ts';
import { shareRepeats } from './share-repeats.ts';
import { structuralProblems } from './structural-check.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const crds = customResourceDefinitions();
const schemaOf = (crd: Schema): Schema =>
  at(((at(crd, 'spec')['versions'] ?? []) as Schema[])[0] ?? {}, 'schema', 'openAPIV3Schema');

test.each(Object.entries(crds))('the schema of %s is structural', (_kind, crd) => {
  expect(structuralProblems(schemaOf(crd))).toEqual([]);
});

test.each<[string, Schema]>([
  ['a node without a type', { properties: {}, type: 'object', additionalProperties: undefined, items: {} }],
  ['a property without a type', { type: 'object', properties: { a: {} } }],
  ['a reference', { type: 'object', properties: { a: { $ref: '#/x' } } }],
  ['a union', { type: 'object', properties: { a: { type: 'string', oneOf: [] } } }],
  ['a default', { type: 'string', default: 'x' }],
  ['an array without items', { type: 'array' }],
  ['closed objects', { type: 'object', additionalProperties: false }],
  ['both kinds of members', { type: 'object', properties: {}, additionalProperties: { type: 'string' } }],
  ['a number as exclusive bound', { type: 'number', exclusiveMinimum: 0 }],
  ['an endless bound', { type: 'number', minimum: Number.NaN }],
  ['several types', { type: ['string', 'null'] }],
  ['a string that preserves', { type: 'string', 'x-kubernetes-preserve-unknown-fields': true }],
  ['a typed int-or-string', { type: 'string', 'x-kubernetes-int-or-string': true }],
])('the check of structure finds %s', (_name, schema) => {
  expect(structuralProblems(schema)).not.toEqual([]);
});

test('every object of a spec keeps unknown keys, so that a typo comes back as a condition', () => {
  const closed: string[] = [];
  const walk = (schema: Schema, path: string): void => {
    if (schema['properties'] && schema['x-kubernetes-preserve-unknown-fields'] !== true) closed.push(path);
    for (const [key, child] of Object.entries({ ...at(schema, 'properties'), items: schema['items'] }))
      if (child) walk(child as Schema, `${path}.${key}`);
  };
  for (const [kind, crd] of Object.entries(crds)) walk(at(schemaOf(crd), 'properties', 'spec'), kind);
  expect(closed).toEqual([]);
});

test('names, scope, subresource and columns are what people type', () => {
  const spec = at(crds.Pipeline, 'spec');
  expect(spec).toMatchObject({
    group: 'signalbox.dev',
    scope: 'Namespaced',
    names: { kind: 'Pipeline', plural: 'pipelines', shortNames: ['sbp'], categories: ['signalbox'] },
  });
  expect(KINDS.LibraryStep.short).toBe('sbs');
  expect(KINDS.Agent.short).toBe('sba');
  expect(KINDS.Pipeline.columns.slice(0, 6).map(({ name }) => name)).toEqual([
    'Stage',
    'Ready',
    'Synced',
    'Last run',
    'Suspended',
    'Age',
  ]);
  const [version] = spec['versions'] as Schema[];
  expect(version).toMatchObject({ name: 'v1alpha1', subresources: { status: {} } });
  const [agent] = at(crds.Agent, 'spec')['versions'] as Schema[];
  expect(at(agent!, 'subresources', 'scale')['specReplicasPath']).toBe('.spec.runtime.replicas');
});

test('kubectl explain says something about each key of a step', () => {
  const step = at(
    schemaOf(crds.Pipeline),
    'properties',
    'spec',
    'properties',
    'steps',
    'items',
    'properties',
  ) as Record<string, Schema>;
  const silent = Object.entries(step).filter(([, schema]) => typeof schema['description'] !== 'string');
  expect(silent.map(([key]) => key)).toEqual([]);
  expect(Object.keys(step)).toEqual(
    expect.arrayContaining([
      'use',
      'executor',
      'parallel',
      'fan_out',
      'verifier',
      'grounding',
      'deterministic_checks',
      'calibration',
      'loop_until',
      'retry',
      'on_failure',
    ]),
  );
});

test('the files in the repository are what the contract generates', () => {
  const dirty = [...generatedFiles()].filter(([path, text]) => readFileSync(join(ROOT, path), 'utf8') !== text);
  expect(dirty.map(([path]) => path)).toEqual([]);
});

test('the schema for editors accepts use: entries and refuses typos', () => {
  const accepts = new Ajv2020({ strict: false }).compile(shareRepeats(writtenSchemas().Pipeline));
  expect(accepts({ name: 'a', steps: [{ name: 'x', use: 's', confidence_threshold: 0.5 }] })).toBe(true);
  expect(
    accepts({ name: 'a', steps: [{ name: 'x', parallel: { steps: [{ name: 'y', use: 's', weight: 2 }] } }] }),
  ).toBe(true);
  expect(accepts({ name: 'a', steps: [{ name: 'x', fan_out: { over: 'a', step: { use: 's' } } }] })).toBe(true);
  expect(accepts({ name: 'a', steps: [{ name: 'x', use: 's', promt: 'x' }] })).toBe(false);
  expect(accepts({ name: 'a', stpes: [] })).toBe(false);
});

test('folding keeps what all branches share and widens bounds', () => {
  const one = {
    type: 'object',
    properties: {
      kind: { type: 'string', const: 'a' },
      n: { type: 'integer', minimum: 5, maximum: 6 },
      x: { type: 'string' },
    },
    required: ['kind', 'n'],
  };
  const two = {
    type: 'object',
    properties: {
      kind: { type: 'string', const: 'b' },
      n: { type: 'integer', minimum: 1, maximum: 2 },
      x: { type: 'object' },
    },
    required: ['kind'],
  };
  expect(fold({ oneOf: [one, two] })).toMatchObject({
    properties: { kind: { type: 'string', enum: ['a', 'b'] }, n: { type: 'integer', minimum: 1, maximum: 6 }, x: {} },
    required: ['kind'],
  });
});

test('the reference has every shape, needed keys and defaults, and says shared keys once', () => {
  const text = generatedFiles().get('docs/pipelines.md') ?? '';
  for (const heading of [
    '`executor: gateway` and `executor: external`',
    '`executor: human`',
    '`executor: webhook`',
    '`parallel`',
    '`fan_out`',
  ])
    expect(text).toContain(`### ${heading}`);
  expect(text).toContain('| `agent` | string | **required** |');
  expect(text).toContain('| `fan_out.max_parallel` | integer 1 to');
  expect(text).toContain('| `deterministic_checks[].type` | `shell` `webhook` | **required** |');
  expect(text.match(/^\| `when` /gm)).toHaveLength(1);
});

test('kubectl explain has a sentence for every field', () => {
  const bare: string[] = [];
  const walk = (schema: Schema, path: string): void => {
    for (const [name, child] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
      if (typeof child['description'] !== 'string') bare.push(`${path}.${name}`);
      walk(child, `${path}.${name}`);
    }
    if (schema['items']) walk(schema['items'] as Schema, path);
  };
  for (const [kind, crd] of Object.entries(crds)) walk(schemaOf(crd), kind);
  const standard = /^\w+\.(apiVersion|kind|metadata)$/;
  expect(bare.filter((path) => !standard.test(path))).toEqual([]);
});

test('kubectl, which reads YAML 1.1, reads the generated files as they are meant', () => {
  for (const [path, text] of generatedFiles()) {
    if (!path.endsWith('.yaml')) continue;
    expect([path, parse(text, { version: '1.1' })]).toEqual([path, parse(text)]);
  }
});
