import { expect, test } from 'vitest';
import { AnswerTooLarge } from './answer.ts';
import { listAll, type PageRequest } from './list.ts';

const { signal } = new AbortController();

/** A server of so many objects, of whose pages this client reads only those that are small enough. */
function serverOf(count: number, isSmall: (items: readonly number[]) => boolean) {
  const asked: string[] = [];
  const list = async ({ limit, _continue = '0' }: PageRequest) => {
    const from = Number(_continue);
    const items = Array.from({ length: Math.min(limit, count - from) }, (_, index) => from + index);
    asked.push(`${from} ${limit}`);
    if (!isSmall(items)) throw new AnswerTooLarge('too large');
    const more = from + limit < count ? { continue: String(from + limit) } : {};
    return { kind: 'PipelineList', metadata: { resourceVersion: '7', ...more }, items };
  };
  return { list, asked };
}

test('a page too large to be read is asked for again with fewer objects, and the next ones have more', async () => {
  const { list, asked } = serverOf(900, (items) => !items.includes(0) || items.length <= 2);
  const listed = await listAll({ list, read: (item) => item as number }, signal);
  expect(listed).toEqual({ ok: true, resourceVersion: '7', items: Array.from({ length: 900 }, (_, index) => index) });
  expect(asked.slice(0, 7)).toEqual(['0 500', '0 125', '0 32', '0 8', '0 2', '2 4', '6 8']);
});

test('a list with an object too large to be read alone is a failure', async () => {
  const { list, asked } = serverOf(3, (items) => !items.includes(2));
  expect(await listAll({ list, read: Number }, signal)).toMatchObject({ ok: false, status: 413, message: 'too large' });
  expect(asked.at(-1)).toBe('2 1');
});

test('what is no object of the kind is left out', async () => {
  const { list } = serverOf(3, () => true);
  expect(await listAll({ list, read: (item) => (item === 1 ? null : item) }, signal)).toMatchObject({ items: [0, 2] });
});
