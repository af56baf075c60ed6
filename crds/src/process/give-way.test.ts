import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const code = `
  import { existsSync, readlinkSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { basename } from 'node:path';
  import { parentPort } from 'node:worker_threads';
  import { giveWay } from '${import.meta.resolve('./give-way.ts')}';
  giveWay();
  const self = '/proc/thread-self';
  parentPort.postMessage(getPriority(existsSync(self) ? Number(basename(readlinkSync(self))) : 0));
`;

test('a thread gives way, and the event loop keeps its priority', async () => {
  const before = getPriority();
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  worker.once('message', resolve);
  worker.once('error', reject);
  expect(await promise).toBe(existsSync('/proc/thread-self') ? Math.min(19, before + 5) : before);
  expect(getPriority()).toBe(before);
  await worker.terminate();
});
