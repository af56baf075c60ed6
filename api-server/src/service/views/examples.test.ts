import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter((file) => !file.endsWith('.test.ts'));
const modules = await Promise.all(files.map((file): Promise<object> => import(join(import.meta.dirname, file))));
const components = modules
  .flatMap((module) => Object.values(module))
  .filter((value): value is z.ZodType => value instanceof z.ZodType)
  .flatMap((schema) => {
    const { id, examples } = schema.meta() ?? {};
    return id !== undefined && Array.isArray(examples) ? [{ id, schema, examples: examples as unknown[] }] : [];
  });

describe('every component of the API description', () => {
  test.each(components)('the example of $id fits its schema', ({ schema, examples }) => {
    const problems = examples.map((example) => schema.safeParse(example).error).filter((error) => error !== undefined);
    expect(examples).not.toEqual([]);
    expect(problems.map((error) => z.prettifyError(error))).toEqual([]);
  });

  test('has a name of its own', () => {
    const ids = components.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(25);
    expect(ids).toEqual([...new Set(ids)]);
  });
});
