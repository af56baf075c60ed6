import { expect, test } from 'vitest';
import { contentHash, type Pipeline, UNRESTRICTED } from '@signalbox/crds';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import { createDailyBytes } from './daily-bytes.ts';
import { createDefinitionBytes } from './definition-bytes.ts';

const loaded = (text: string, standing: object = { namespace: 'shop', admitted: true, tenant: {} }): LoadedPipeline => {
  const message = { channel: 'webhook', template: text, config: { url: 'https://a.example' } };
  const large = { channel: 'log', config: { text: 'x'.repeat(3_000) } };
  const steps = [{ name: 'look', executor: 'gateway', agent: 'a', prompt_template: text }];
  const config = {
    name: 'p',
    stage: 'production',
    durable: { on_interrupted: 'rerun' },
    notifications: { fail: [large, message], complete: [message] },
    steps,
  };
  return { name: 'p', config: config as unknown as Pipeline, hash: contentHash(config), standing } as LoadedPipeline;
};
const site = (most: number, kept: string[] = []) =>
  createDefinitionBytes(
    createDailyBytes(() => most, Date.now),
    kept,
  );

test('a body counts once, in bytes, and one that is kept does not', () => {
  const pipeline = loaded('€'.repeat(1_000));
  const { count } = site(15_000, [loaded('k'.repeat(20_000)).hash]);
  expect([count(pipeline), count(pipeline), count(loaded('k'.repeat(20_000)))]).toEqual([null, null, null]);
  expect(count(loaded('é'.repeat(1_000)))).toMatchObject({ type: 'daily_bytes' });
  expect(count(loaded('y'.repeat(20_000), UNRESTRICTED))).toBeNull();
});

test('a run that cannot keep it begins without steps and tells who is to know', () => {
  const pipeline = loaded('y'.repeat(20_000));
  expect(site(100_000).storable(pipeline)).toBe(pipeline);
  const stored = site(15_000).storable(pipeline);
  expect(stored.hash).not.toBe(pipeline.hash);
  expect(stored.config).toMatchObject({ name: 'p', stage: 'production', steps: [] });
  expect(stored.config.notifications).toEqual({
    fail: [{ channel: 'webhook', config: { url: 'https://a.example' } }],
    escalate: undefined,
  });
  expect(JSON.stringify(stored.config).length).toBeLessThan(500);
});
