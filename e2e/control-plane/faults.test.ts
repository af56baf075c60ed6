import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../crash/random.ts';
import type { Service } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { churn, faultsOf, listPipelines, wrongCopies, wrongFiles } from './churn.ts';
import { flags, isReady, metricOf, startController } from './controllers.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type KubeClient, kubeClient, pathOf, samplePipeline } from './kube-client.ts';
import { startNaiveController } from './naive-controller.ts';
import type { Seen } from './objects.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

/** How long after the last change everything must be right: long before the list of every five minutes. */
const QUIET_MS = 90_000;
/** For the tests that let a minute pass. */
const MINUTES_MS = 600_000;
const CHANGES = 60;

let plane: ControlPlane;
let accounts: Accounts;
let client: KubeClient;
let proxy: FaultProxy;
let managed = '';
let sync: Service;
let manager: Service;
let seed = 1;

beforeAll(async () => {
  plane = await startControlPlane();
  await applyKinds(plane);
  accounts = await createAccounts(plane);
  client = kubeClient(plane);
  proxy = await startFaultProxy(plane, seededRandom(7));
  managed = join(plane.scratch, 'managed');
  const args = ['sync', ...flags({ kinds: 'Pipeline,LibraryStep', dir: managed })];
  sync = await startController(args, accounts.kubeconfig('sync', proxy.url));
  manager = await startController(['manager'], accounts.kubeconfig('manager', proxy.url));
  await waitFor(() => isReady(sync), { what: 'sync to be ready', timeoutMs: QUIET_MS });
});
afterAll(async () => {
  await manager?.stop();
  await sync?.stop();
  await proxy?.stop();
  client?.close();
  await plane?.stop();
});

/** Everything is right within the time, and nothing is written any more. */
async function converges(): Promise<void> {
  let last: string[] = [];
  const probe = async () => {
    last = await faultsOf(client, managed);
    return last.length === 0;
  };
  await waitFor(probe, { what: 'files and statuses', timeoutMs: QUIET_MS, everyMs: 200 }).catch((cause: unknown) => {
    throw new Error(`wrong after ${QUIET_MS} ms: ${last.join('; ')}`, { cause });
  });
}

/** Silence cannot be waited for: it is listened to for a while, once the last words were said. */
async function staysQuiet(ms: number): Promise<void> {
  await waitFor(
    async () => {
      proxy.takeWrites();
      await delay(5000);
      return proxy.takeWrites().length === 0;
    },
    { what: 'the last events to be told', timeoutMs: QUIET_MS },
  );
  const files = await metricOf(sync, 'controller_files_written_total');
  await delay(ms);
  expect(proxy.takeWrites()).toEqual([]);
  expect(await metricOf(sync, 'controller_files_written_total')).toBe(files);
}

/** How long file and status of a pipeline take to follow a change of its description. */
async function followMs(name: string, description: string): Promise<number> {
  const path = pathOf('pipelines', name);
  const started = performance.now();
  await client.send('PATCH', path, { spec: { description } });
  const followed = async () => {
    const { metadata, status } = (await client.send('GET', path)).body as Seen;
    const isTold = status?.['observedGeneration'] === metadata.generation;
    return isTold && readFileSync(join(managed, `pipelines/${name}.yaml`), 'utf8').includes(description);
  };
  await waitFor(followed, { what: `${name} to follow`, timeoutMs: QUIET_MS });
  return performance.now() - started;
}

const random = () => seededRandom(seed++);
const naiveWasWrong: Record<string, number> = {};

/** Runs a naive controller beside ours, and remembers how many of its files are wrong once ours are right. */
async function besideNaive(what: string, run: () => Promise<void>, patienceMs = 1000): Promise<void> {
  const directory = join(plane.scratch, `naive-${what.replaceAll(' ', '-')}`);
  const naive = startNaiveController(proxy.url, accounts.token('sync'), directory);
  const wrong = async () => (await wrongCopies(client, directory)).length;
  await waitFor(async () => (await wrong()) === 0, { what: 'its first list', timeoutMs: QUIET_MS });
  await run();
  await waitFor(async () => (await wrong()) === 0, { what: 'it to be right', timeoutMs: patienceMs }).catch(
    () => undefined,
  );
  naiveWasWrong[what] = await wrong();
  await naive.stop();
}

test('on a good day files and statuses follow', async () => {
  const day = async () => {
    await churn(client, random(), CHANGES);
    await converges();
  };
  await besideNaive('a good day', day, QUIET_MS);
});

test.each([
  ['events that are lost', { lose: 0.5 }],
  ['events that come twice', { repeat: 0.5 }],
  ['events in another order', { swap: 0.4 }],
  ['all of these', { lose: 0.1, repeat: 0.3, swap: 0.3 }],
  ['every third write of a status refused with 409', { conflictEvery: 3 }],
])('files and statuses follow through %s', async (what, faults) => {
  await besideNaive(what, async () => {
    proxy.faults = faults;
    await churn(client, random(), CHANGES);
    await converges();
    proxy.faults = {};
  });
});

test.each(['status', 'event'] as const)(
  'files and statuses follow through watches that end with 410 as %s',
  async (gone) => {
    await besideNaive(`410 as ${gone}`, async () => {
      proxy.faults = { gone };
      proxy.cutWatches();
      await churn(client, random(), CHANGES);
      proxy.faults = {};
      await converges();
    });
  },
);

test('a history that was compacted away is listed again', async () => {
  proxy.faults = { down: true };
  proxy.cutWatches();
  await churn(client, random(), CHANGES);
  await plane.compact();
  proxy.faults = {};
  await converges();
});

test('watches that break off again and again lose nothing', async () => {
  const cutting = new AbortController();
  const cut = async () => {
    while (!cutting.signal.aborted) {
      proxy.cutWatches();
      await delay(150);
    }
  };
  const done = cut();
  await churn(client, random(), CHANGES);
  cutting.abort();
  await done;
  await converges();
});

test(
  'an API server that is down takes no file away, and is caught up with',
  async () => {
    const before = (await listPipelines(client)).length;
    expect(before).toBeGreaterThan(0);
    await plane.stopApiServer();
    await delay(60_000);
    expect(await isReady(sync)).toBe(true);
    await plane.startApiServer();
    await waitFor(() => listPipelines(client), { what: 'the kinds to be served again', timeoutMs: QUIET_MS });
    expect(await wrongFiles(client, managed)).toEqual([]);
    await churn(client, random(), CHANGES);
    await converges();
  },
  MINUTES_MS,
);

test('rights that are taken away take no file away, and are used again once they are back', async () => {
  for (const role of ['sync', 'manager'] as const) await accounts.take(role);
  proxy.cutWatches();
  const failed = () => metricOf(sync, 'controller_watch_restarts_total{kind="Pipeline",reason="failed"');
  const before = await failed();
  await waitFor(async () => (await failed()) > before + 1, { what: 'the refusal', timeoutMs: QUIET_MS });
  expect(await wrongFiles(client, managed)).toEqual([]);
  await churn(client, random(), CHANGES);
  for (const role of ['sync', 'manager'] as const) await accounts.give(role);
  await converges();
});

test('two that lead at the same time end with the same statuses', async () => {
  const second = await startController(['manager', '--leader-elect=false'], accounts.kubeconfig('manager', proxy.url));
  try {
    await churn(client, random(), CHANGES);
    await converges();
    await staysQuiet(2000);
  } finally {
    await second.stop();
  }
});

test(
  'good objects follow within seconds whatever 300 bad ones and one of 1.4 MB do',
  async () => {
    const broken = Array.from({ length: 300 }, (_, index) => {
      const { spec, ...rest } = samplePipeline(`broken-${index}`);
      return { ...rest, spec: { ...spec, steps: [{ name: 'a', use: 'nowhere' }], stpes: index } };
    });
    const huge = samplePipeline('huge');
    const tooLarge = { ...huge, spec: { ...huge.spec, vars: { text: 'x'.repeat(1_400_000) } } };
    const fine = Array.from({ length: 50 }, (_, index) => samplePipeline(`fine-${index}`));
    await client.createAll(fine);
    await converges();
    const alone = await followMs('fine-7', 'followed alone');
    await client.createAll([...broken, tooLarge]);
    await converges();
    expect(await followMs('fine-7', 'followed among them')).toBeLessThan(5000 + 10 * alone);
    await staysQuiet(60_000);
  },
  MINUTES_MS,
);

test('the faults are real: a naive controller, right on a good day, is wrong after lost events and 410', () => {
  expect(naiveWasWrong['a good day']).toBe(0);
  for (const fault of ['events that are lost', '410 as status', '410 as event'])
    expect({ fault, wrong: naiveWasWrong[fault] }).toEqual({ fault, wrong: expect.toSatisfy((wrong) => wrong > 0) });
});
