import { rpcError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { Run, type RunWatcher } from '../runs/run.ts';
import { gatewayOf } from './ask-gateway.ts';

const CALL = { server: 'beside', tool: 'get', input: '{}', callId: 'c1' };
const PROMPT = { models: [], call: { prompt: [], tools: [], answerSchema: null } } as never;
const OPTIONS = { signal: new AbortController().signal, onRetry: () => {}, onFallback: () => {} } as never;

/** A gateway that answers every question with an error. */
function refusing(type: Parameters<typeof rpcError>[0]) {
  const gateway: RunWatcher = {
    approves: 'all',
    event: () => {},
    requestApproval: () => Promise.reject(new Error('not asked here')),
    ask: () => Promise.resolve({ jsonrpc: '2.0', id: 's1', error: rpcError(type, 'not now') }),
  };
  const run = new Run('run-1', { agent: 'far', input: '' }, gateway);
  return gatewayOf(run, run.signal());
}

test('a gateway that does not say what its policy is has said no', async () => {
  expect(await refusing('internal').decide(CALL)).toEqual({ action: 'deny', rule: null, reason: 'not now' });
});

test('a call that it does not make is an error of the tool server', async () => {
  const options = { signal: new AbortController().signal, timeoutMs: 1000 };
  expect(await refusing('internal').call('here', 'get', {}, options)).toEqual({ kind: 'unavailable', text: 'not now' });
});

test.each([
  ['internal', true],
  ['not_found', true],
  ['invalid_params', false],
] as const)('a turn that it does not make because of %s may be tried again: %s', async (type, retryable) => {
  expect(await refusing(type).generate(PROMPT, OPTIONS)).toMatchObject({ ok: false, failure: { retryable } });
});
