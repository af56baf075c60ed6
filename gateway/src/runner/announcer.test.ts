import type { RpcResponse } from '@signalbox/crds';
import { rpcError } from '@signalbox/crds';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Announcer } from './announcer.ts';

/** How often a gateway that answers with this is told the same state in 10 looks. */
async function toldTo(answer: Pick<RpcResponse, 'result' | 'error'>): Promise<number> {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ask = vi.fn<() => Promise<RpcResponse>>(async () => ({ jsonrpc: '2.0', id: 1, ...answer }));
  const announcer = new Announcer(() => ({ draining: false, tools: [] }), 5000);
  announcer.add({ ask } as unknown as Parameters<Announcer['add']>[0]);
  await vi.advanceTimersByTimeAsync(50_000);
  announcer.close();
  return ask.mock.calls.length;
}

test('a state is told once, and again where the gateway has no room for it yet', async () => {
  expect(await toldTo({ result: null })).toBe(1);
  expect(await toldTo({ error: rpcError('invalid_params', 'too many tools') })).toBe(1);
  expect(await toldTo({ error: rpcError('at_capacity', 'no room') })).toBe(11);
});
