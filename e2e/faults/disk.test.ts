import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GatewayCall, startFakeGateway } from '../bench/fake-gateway.ts';
import { compileShim } from '../shim/shim.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { TOKENS, writeSetting } from './shapes.ts';

const shim = compileShim(join(import.meta.dirname, 'disk-shim.c'));
const title = shim.ok ? 'a service whose disk' : `a service whose disk (left out: ${shim.reason})`;

interface Answer {
  status?: string;
  run_id?: string;
  detail?: { type: string; failing?: string[] };
}

/** The service with its database, its logs and its artifacts on a disk that fails on demand. */
async function serving(use: (world: World) => Promise<void>): Promise<void> {
  using scratch = scratchDirectory('signalbox-disk-');
  const disk = join(scratch.path, 'disk');
  const flag = join(scratch.path, 'fault');
  const calls: string[] = [];
  // The pipeline with a schedule adds runs.
  const onCall = ({ run_id, step_name }: GatewayCall) => void (step_name === 'only' && calls.push(run_id));
  const gateway = await startFakeGateway({ token: TOKENS.gateway, onCall });
  const config = writeSetting({
    directory: scratch.path,
    databaseUrl: `sqlite://${join(disk, 'service.db')}`,
    gatewayUrl: gateway.url,
    webhookUrl: 'http://127.0.0.1:1/',
    more: { logging: { dir: join(disk, 'logs') }, artifacts: { dir: join(disk, 'artifacts') } },
  });
  const env = { LD_PRELOAD: shim.ok ? shim.path : undefined, SHIM_DISK_DIR: disk, SHIM_DISK_FLAG: flag };
  const service = await startService('api-server', config, { env, timeoutMs: 120_000 });
  try {
    const { url } = service;
    await use({
      url,
      pid: service.pid,
      calls,
      hold: gateway.hold,
      break: (how) => writeFileSync(`${flag}.${how}`, ''),
      mend: (how) => rmSync(`${flag}.${how}`),
      send: (key) =>
        call<Answer>(`${url}/webhook?source=generic`, {
          token: TOKENS.webhook,
          body: { pipeline: 'leaf', idempotency_key: key },
        }),
      statusOf: async (id) => (await call<Answer>(`${url}/runs/${id}`, { token: TOKENS.operator })).body.status,
    });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  } finally {
    await service.kill();
    await gateway.close();
  }
}

interface World {
  url: string;
  pid: number;
  calls: string[];
  hold(on: boolean): void;
  break(how: Fault): void;
  mend(how: Fault): void;
  send(key: string): ReturnType<typeof call<Answer>>;
  statusOf(id: string): Promise<string | undefined>;
}
type Fault = 'full' | 'read-only';

const typeOf = ({ status, body }: { status: number; body: Answer }) => [status, body.detail?.type];

describe.runIf(shim.ok)(title, { timeout: 300_000 }, () => {
  test.each(['full', 'read-only'] as const)(
    'is %s takes nothing it cannot store and recovers without a restart',
    (fault) =>
      serving(async (world) => {
        const { url, send, statusOf } = world;
        const token = TOKENS.operator;
        world.hold(true);
        const inFlight = (await send('before')).body.run_id ?? '';
        await waitFor(() => world.calls.includes(inFlight), { what: 'the agent to be asked' });

        world.break(fault);
        expect(typeOf(await send('during'))).toEqual([503, 'unavailable']);
        expect(typeOf(await call<Answer>(`${url}/pipelines/leaf/run`, { token, body: {} }))).toEqual([
          503,
          'unavailable',
        ]);
        const marked = await call<Answer>(`${url}/runs/${inFlight}/feedback`, { token, body: { outcome: 'correct' } });
        expect(typeOf(marked)).toEqual([503, 'unavailable']);
        const ready = await call<Answer>(`${url}/ready`);
        expect([ready.status, ready.body.detail?.failing]).toEqual([503, ['database']]);
        expect((await call(`${url}/health`)).status).toBe(200);

        world.hold(false);
        // The answer arrived and cannot be stored: the run waits, and reads still work.
        for (let look = 0; look < 5; look++) {
          expect(typeOf(await send(`during-${look}`))).toEqual([503, 'unavailable']);
          expect(await statusOf(inFlight)).toBe('running');
        }

        world.mend(fault);
        const isReady = async () => (await call(`${url}/ready`)).status === 200;
        await waitFor(isReady, { what: 'the service to be ready again' });
        await waitFor(async () => (await statusOf(inFlight)) === 'completed', { what: 'the run to go on' });
        const again = (await send('during')).body;
        expect(again.status).toBe('accepted');
        await waitFor(async () => (await statusOf(again.run_id ?? '')) === 'completed', { what: 'the next run' });
        const { body } = await call<{ runs: { id: string }[] }>(`${url}/runs?pipeline=leaf`, { token });
        expect(body.runs.map(({ id }) => id).toSorted()).toEqual([inFlight, again.run_id].toSorted());
        expect(world.calls).toEqual([inFlight, again.run_id]);
      }),
  );
});
