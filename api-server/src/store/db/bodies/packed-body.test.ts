import { expect, test } from 'vitest';
import { zstdDecompressSync } from 'node:zlib';
import {
  HEAD_BYTES,
  headOf,
  isUnreadable,
  pack,
  type StepText,
  unpack,
  unpackedBytes,
  unpackTexts,
} from './packed-body.ts';

const CONTEXT = { labels: { name: 'é "steps": \u001e' }, steps: [['look', 'output']] };
const HEAD = JSON.stringify({ context: CONTEXT, raw: null, events: [] });
const textsOf = (length: number): StepText[] =>
  ['look', '"steps":', '__proto__'].flatMap((step) => [
    { step, column: 'checks', json: JSON.stringify([`${step} – é`]) },
    { step, column: 'output', json: JSON.stringify(`${step} ${'–x'.repeat(length)}`) },
  ]);

test.each([0, 10, 1_000, 30_000, 100_000])(
  'a body whose texts have %i signs reads as it was packed',
  async (length) => {
    const texts = textsOf(length);
    const body = await pack(HEAD, texts);
    const outputs = texts.filter(({ column }) => column === 'output');
    const jsonOf = (step: string, wanted: string) =>
      texts.find((text) => text.step === step && text.column === wanted)?.json;
    expect(unpackTexts(body, ['output'])).toEqual(new Map(outputs.map(({ step, json }) => [step, { output: json }])));
    const [first] = outputs;
    const ofOne = unpackTexts(body, ['output'], { steps: new Set(['look']) });
    expect(ofOne).toEqual(new Map([['look', { output: first?.json }]]));
    expect(unpackedBytes(body.subarray(0, HEAD_BYTES), body.length)).toBe(zstdDecompressSync(body).length);
    const whole = unpack(body);
    expect(whole.context).toEqual(CONTEXT);
    for (const { step } of outputs)
      expect(whole.texts.get(step)).toEqual({ checks: jsonOf(step, 'checks'), output: jsonOf(step, 'output') });
  },
);

test('a body without texts is read too', async () => {
  const body = await pack(HEAD, []);
  expect([unpack(body).texts.size, unpackTexts(body, ['output']).size]).toEqual([0, 0]);
});

test('the head alone is the JSON with which a run is packed once more', async () => {
  const head = headOf(await pack(HEAD, textsOf(10)));
  expect(JSON.parse(head)).toMatchObject(JSON.parse(HEAD) as object);
});

test('a body that was changed or cut is known as unreadable', async () => {
  const body = await pack(HEAD, textsOf(1_000));
  const changed = Uint8Array.from(body);
  changed.fill(7, 20, 60);
  for (const broken of [changed, body.subarray(0, 40)]) {
    const caught = (() => {
      try {
        return unpack(broken);
      } catch (error) {
        return error;
      }
    })();
    expect(isUnreadable(caught)).toBe(true);
  }
});
