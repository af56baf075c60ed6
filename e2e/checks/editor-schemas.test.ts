import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './run-command.ts';

const CONFIG = join(ROOT, 'config');

const files = ['samples/**/*.yaml', 'local/agents/**/*.yaml', 'gitops/definitions/**/*.yaml']
  .flatMap((pattern) => globSync(pattern, { cwd: CONFIG }))
  .filter((file) => !file.endsWith('kustomization.yaml'));

test('every kind has a sample, as a file and as an object', () => {
  const named = new Set(files.map((file) => schemaOf(file).split('/').at(-1)));
  const kinds = ['pipeline', 'library-step', 'agent'].flatMap((kind) => [
    `${kind}.schema.json`,
    `${kind}.object.schema.json`,
  ]);
  expect([...named].toSorted()).toEqual(kinds.toSorted());
});

test.each(files)('%s names the schema that an editor checks it with, and passes it', (file) => {
  const schema = JSON.parse(readFileSync(schemaOf(file), 'utf8')) as object;
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  expect(validate(parse(textOf(file))) ? [] : validate.errors).toEqual([]);
});

test('a misspelt key of an object is an error in the editor', () => {
  const file = 'samples/objects/node-load.pipeline.yaml';
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(readFileSync(schemaOf(file), 'utf8')) as object,
  );
  const body = parse(textOf(file)) as { spec: object };
  expect(validate({ ...body, spec: { ...body.spec, stagee: 'testing' } })).toBe(false);
});

function textOf(file: string): string {
  return readFileSync(join(CONFIG, file), 'utf8');
}

function schemaOf(file: string): string {
  const named = /^# yaml-language-server: \$schema=(\S+)\n/.exec(textOf(file))?.[1] ?? 'none';
  return join(CONFIG, dirname(file), named);
}
