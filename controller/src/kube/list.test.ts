import { type ConfigurationOptions, type ObservableMiddleware, ResponseContext } from '@kubernetes/client-node';
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

test('one object alone is read, however many values are left of it', async () => {
  const left = Array.from({ length: 250_000 }, () => 1);
  const asked: number[] = [];
  const list = async ({ limit }: PageRequest, { middleware }: ConfigurationOptions) => {
    asked.push(limit);
    const items = [{ left }, { left: [] }].slice(0, limit);
    const body = JSON.stringify({ kind: 'PipelineList', metadata: { resourceVersion: '7' }, items });
    const answer = new ResponseContext(
      200,
      {},
      {
        text: async () => body,
        binary: async () => Buffer.from(body),
        stream: () => null,
      },
    );
    const [reads] = middleware as ObservableMiddleware[];
    return JSON.parse(await (await reads!.post(answer).toPromise()).body.text()) as unknown;
  };
  expect(await listAll({ list, read: (item) => (item as { left: number[] }).left.length }, signal)).toMatchObject({
    ok: true,
    items: [250_000],
  });
  expect(asked).toEqual([500, 125, 32, 8, 2, 1]);
});
