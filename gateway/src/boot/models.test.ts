import { expect, test } from 'vitest';
import { parseConfig } from '../config/load.ts';
import { Metrics } from '../observability/metrics.ts';
import { until } from '../testing/until.ts';
import { openModels } from './models.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test('an exception where requests are counted is logged as a bug', async () => {
  const loaded = parseConfig('providers: {demo: {type: demo}}', '/', {});
  if (!loaded.ok) throw new Error(loaded.message);
  const boom = new Error('boom');
  const metrics = new Metrics();
  metrics.llmRequest = () => {
    throw boom;
  };
  const bugs: unknown[] = [];
  const access = {
    authenticate: () => expect.unreachable(),
    onAuthFailure: () => {},
    onBug: (error: unknown) => void bugs.push(error),
  };
  const { generate } = openModels({ config: loaded.config, metrics, log: silent, access });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Look.' }] }];
  const { ok } = await generate(
    { models: ['demo/scripted'], call: { prompt, tools: [], answerSchema: null } },
    { signal: new AbortController().signal, onRetry: () => {}, onFallback: () => {} },
  );
  expect(ok).toBe(true);
  await until(() => bugs.length > 0);
  expect(bugs).toEqual([boom]);
});
