import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { createPipelineEnv } from '../config/pipeline-env.ts';
import { createLogs } from '../observability/logger.ts';
import { readFailpoints } from './failpoints.ts';
import { createService } from './service.ts';

interface Managed {
  namespace: string;
  /** Keys of the definition in addition to its name and a step that waits for a person. */
  keys?: string;
}

interface Alert {
  pipeline?: string;
  severity?: string;
  labels?: Record<string, string>;
}

const TOKENS = `auth: {tokens: [{name: boss, token: boss, role: admin}, {name: am, token: am, role: webhook, team: infra}]}\n`;
const STEP = 'steps: [{name: ask, executor: human, prompt_template: Go?, timeout_seconds: 900}]\n';
const ANY = 'trigger: {priority: 100, match: {}}\nstage: production\n';

/** A service with pipelines that `sync` wrote, each out of an object of its namespace; the release lives in `ops`. */
async function start(
  tenancy: string,
  pipelines: Record<string, Managed>,
  home: string | null = 'ops',
  dir = newFolder(),
) {
  synced(dir, pipelines, home);
  const file = join(dir, 'config.yaml');
  const common = `server: {host: 127.0.0.1, port: 0}\ndatabase: {url: "sqlite:test.db"}\nmanaged_dir: managed\n${TOKENS}`;
  writeFileSync(file, common + tenancy);
  const loaded = loadConfig(file, {});
  if (!loaded.ok) throw new Error(loaded.message);
  const service = await createService({
    config: loaded.config,
    version: 'test',
    logs: createLogs(loaded.config.logging, new Writable({ write: (_chunk, _encoding, done) => done() })),
    failpoints: readFailpoints(undefined),
    pipelineEnv: createPipelineEnv([], {}),
  });
  let closing: Promise<void> | undefined;
  const stop = () => (closing ??= service.close());
  onTestFinished(stop);
  return { dir, stop, ...clientOf(await service.listen()) };
}

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-tenancy-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** The managed folder as `sync` writes it. */
function synced(dir: string, pipelines: Record<string, Managed>, home: string | null = 'ops'): void {
  rmSync(join(dir, 'managed'), { recursive: true, force: true });
  mkdirSync(join(dir, 'managed/pipelines'), { recursive: true });
  for (const [name, { keys = ANY }] of Object.entries(pipelines))
    writeFileSync(join(dir, `managed/pipelines/${name}.yaml`), `name: ${name}\n${keys}${STEP}`);
  const files = Object.entries(pipelines).map(([name, { namespace }]) => {
    const owner = { kind: 'Pipeline', namespace, name, uid: name, generation: 1, hash: '' };
    return [`pipelines/${name}.yaml`, owner];
  });
  const manifest = {
    namespace: home ?? undefined,
    files: Object.fromEntries(files) as object,
    objects: [],
    agents: {},
  };
  writeFileSync(join(dir, 'managed/manifest.json'), JSON.stringify(manifest));
}

function clientOf(url: string) {
  const ask = async (method: string, path: string, body?: object, token = 'boss') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return {
    ask,
    /** The status and the pipeline of one alert; one that names its pipeline is a generic delivery. */
    alert: async ({ pipeline, severity = 'info', labels = {} }: Alert) => {
      const routed = {
        alerts: [{ status: 'firing', labels: { alertname: 'Busy', severity, ...labels }, annotations: {} }],
      };
      const [source, sent] =
        pipeline === undefined ? ['alert_router', routed] : ['generic', { pipeline, data: { severity, ...labels } }];
      const { status, body } = await ask('POST', `/webhook?source=${source}`, sent, 'am');
      return [status, body['pipeline'] ?? (body['detail'] as { message: string } | undefined)?.message];
    },
  };
}

const CATCH_ALL = {
  greedy: { namespace: 'shop' },
  own: { namespace: 'ops', keys: 'trigger: {match: {}}\nstage: production\n' },
};

test('a pipeline of a namespace that nobody listed catches no alert, also where the delivery names it', async () => {
  const { alert, ask } = await start('', CATCH_ALL);
  expect(await alert({})).toEqual([202, 'own']);
  expect(await alert({ pipeline: 'greedy' })).toEqual([
    422,
    'pipeline "greedy" does not get this alert: tenancy.namespaces does not admit it',
  ]);
  const { body } = await ask('GET', '/definitions');
  expect(JSON.stringify(body)).toContain('is not listed in tenancy.namespaces');
});

test('an operator may start it by name', async () => {
  const { ask } = await start('', CATCH_ALL);
  expect((await ask('POST', '/pipelines/greedy/run', {})).status).toBe(202);
});

test.each([
  ['tenancy: {open: true}\n', 'ops'],
  ['tenancy: {namespaces: {shop: {}}}\n', 'ops'],
])('with %s it catches them', async (tenancy, home) => {
  expect(await (await start(tenancy, CATCH_ALL, home)).alert({})).toEqual([202, 'greedy']);
});

test('where the manifest does not say the release’s namespace, only listed ones get alerts', async () => {
  const { alert } = await start('tenancy: {namespaces: {shop: {}}}\n', CATCH_ALL, null);
  expect(await alert({})).toEqual([202, 'greedy']);
  const closed = await start('', CATCH_ALL, null);
  expect((await closed.alert({}))[0]).toBe(422);
});

test('match of the namespace is ANDed to the trigger', async () => {
  const { alert } = await start('tenancy: {namespaces: {shop: {match: {labels.namespace: shop}}}}\n', CATCH_ALL);
  expect(await alert({ labels: { namespace: 'bank' } })).toEqual([202, 'own']);
  expect(await alert({ labels: { namespace: 'shop' } })).toEqual([202, 'greedy']);
  expect((await alert({ pipeline: 'greedy', labels: { namespace: 'bank' } }))[0]).toBe(422);
});

test('a delivery with alerts of two namespaces gives neither the other’s', async () => {
  const shop = 'tenancy: {namespaces: {shop: {match: {labels.namespace: shop}}}}\ndedup: {enabled: true}\n';
  const { ask } = await start(shop, { greedy: { namespace: 'shop' } });
  const alertOf = (namespace: string, severity: string) => ({
    status: 'firing',
    labels: { alertname: 'Busy', namespace, severity },
    annotations: {},
    fingerprint: `${namespace}-busy`,
  });
  const send = async (...alerts: object[]) => {
    const { status, body } = await ask('POST', '/webhook?source=alert_router', { alerts }, 'am');
    return [status, body['status']];
  };
  const both = [alertOf('shop', 'critical'), alertOf('bank', 'warning')];
  expect(await send(alertOf('shop', 'critical'))).toEqual([202, 'accepted']);
  // What is most severe is covered now; the alert of the other namespace does not take its place.
  expect(await send(...both)).toEqual([202, 'deduplicated']);
  expect((await send(alertOf('bank', 'warning')))[0]).toBe(422);
});

test('an alert that the namespace may not get is not called merged', async () => {
  const shop = 'tenancy: {namespaces: {shop: {match: {labels.namespace: shop}}}}\ndedup: {enabled: true}\n';
  const { ask } = await start(shop, { greedy: { namespace: 'shop' } });
  const alerts = ['shop', 'bank', 'shop'].map((namespace, index) => ({
    status: 'firing',
    labels: { alertname: 'Busy', namespace, severity: ['critical', 'warning', 'info'][index] },
    annotations: {},
    fingerprint: `${namespace}-${index}`,
  }));
  const fates = async () => {
    expect((await ask('POST', '/webhook?source=alert_router', { alerts }, 'am')).status).toBe(202);
    const { body } = await ask('GET', '/deliveries');
    const [newest] = body['deliveries'] as { id: string }[];
    const { alerts: seen } = (await ask('GET', `/deliveries/${newest?.id}`)).body as { alerts: { fate: string }[] };
    return seen.map(({ fate }) => fate);
  };
  expect(await fates()).toEqual(['run', 'no_pipeline', 'merged']);
  await expect.poll(fates).toEqual(['suppressed', 'no_pipeline', 'suppressed']);
});

test('a severe alert of one namespace keeps those of another neither from a run nor from an answer', async () => {
  const limits = 'shop: {match: {labels.namespace: shop}, max_runs: 1}, bank: {match: {labels.namespace: bank}}';
  const { ask } = await start(`tenancy: {namespaces: {${limits}}}\ndedup: {enabled: true}\n`, {
    greedy: { namespace: 'shop' },
    careful: { namespace: 'bank' },
  });
  const send = async (alerts: Record<string, string>) => {
    const sent = Object.entries(alerts).map(([namespace, severity]) => ({
      status: 'firing',
      labels: { alertname: 'Busy', namespace, severity },
      // It is cut for the run, which is about the alert all the same.
      annotations: { text: 'x'.repeat(5_000) },
      fingerprint: `${namespace}-${severity}`,
    }));
    const { status, body } = await ask('POST', '/webhook?source=alert_router', { alerts: sent }, 'am');
    const [newest] = (await ask('GET', '/deliveries')).body['deliveries'] as { id: string }[];
    const seen = (await ask('GET', `/deliveries/${newest?.id}`)).body as { alerts: { fate: string }[] };
    return [status, body['pipeline'], seen.alerts.map(({ fate }) => fate)];
  };
  expect(await send({ shop: 'critical', bank: 'warning' })).toEqual([202, 'greedy', ['run', 'run']]);
  expect(await send({ shop: 'critical', bank: 'warning' })).toEqual([202, 'greedy', ['suppressed', 'suppressed']]);
  // The most severe is over the limit of its namespace, or no pipeline takes it.
  expect(await send({ shop: 'page', bank: 'info' })).toEqual([202, 'careful', ['refused', 'run']]);
  expect(await send({ other: 'critical', bank: 'low' })).toEqual([202, 'careful', ['no_pipeline', 'run']]);
});

test('runs belong to the team of the namespace, whatever the token says', async () => {
  const { alert, ask } = await start('tenancy: {namespaces: {shop: {team: shop-team}}}\n', CATCH_ALL);
  await alert({});
  const { body } = await ask('GET', '/runs');
  expect((body['runs'] as { team: string }[]).map(({ team }) => team)).toEqual(['shop-team']);
});

test('a namespace has at most max_runs active runs; others are not affected', async () => {
  const more = { ...CATCH_ALL, second: { namespace: 'shop', keys: 'stage: production\n' } };
  const { alert } = await start('tenancy: {namespaces: {shop: {max_runs: 2, match: {severity: critical}}}}\n', more);
  const critical = { severity: 'critical' };
  expect((await alert(critical))[0]).toBe(202);
  expect((await alert({ ...critical, pipeline: 'second' }))[0]).toBe(202);
  const refused = 'namespace "shop" may have 2 active runs (max_runs of tenancy.namespaces); try again later';
  expect(await alert(critical)).toEqual([429, refused]);
  expect(await alert({ ...critical, pipeline: 'second' })).toEqual([429, refused]);
  expect(await alert({})).toEqual([202, 'own']);
});

test('a rule of a namespace that can never match ends the start with its key', () => {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-tenancy-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'config.yaml');
  writeFileSync(file, `${TOKENS}tenancy: {namespaces: {shop: {match: {severity: {is: critical}}}}}\n`);
  expect(loadConfig(file, {})).toMatchObject({
    ok: false,
    message: expect.stringContaining('tenancy.namespaces.shop.match.severity: unknown operator "is"'),
  });
});

async function names({ ask }: Pick<Awaited<ReturnType<typeof start>>, 'ask'>) {
  const { definitions, errors } = (await ask('GET', '/definitions')).body as {
    definitions: { name: string }[];
    errors: { msg: string }[];
  };
  return { loaded: definitions.map(({ name }) => name), errors: errors.map(({ msg }) => msg) };
}

const NAMES = 'tenancy: {namespaces: {shop: {}, pay: {}}}\n';
const RELEASED = 'tenancy: {namespaces: {shop: {names: [triage]}, pay: {}}}\n';

test.each(['pay', 'ops'])(
  'a name that %s had, and its history, is not for another namespace until the operator gives it away',
  async (before) => {
    const first = await start(NAMES, { triage: { namespace: before }, other: { namespace: 'shop' } });
    synced(first.dir, { other: { namespace: 'shop' } });
    await first.ask('POST', '/reload');
    const taken = { triage: { namespace: 'shop' }, other: { namespace: 'shop' } };
    synced(first.dir, taken);
    await first.ask('POST', '/reload');
    const who = before === 'ops' ? 'the operator' : 'namespace "pay"';
    const refused = {
      loaded: ['other'],
      errors: [
        `"triage" was last a name of ${who}, and its history is theirs; take another name, or ask for this one in names of tenancy.namespaces`,
      ],
    };
    expect(await names(first)).toEqual(refused);
    await first.stop();
    const second = await start(NAMES, taken, 'ops', first.dir);
    expect(await names(second)).toEqual(refused);
    await second.stop();
    const third = await start(RELEASED, taken, 'ops', first.dir);
    expect((await names(third)).loaded.toSorted()).toEqual(['other', 'triage']);
    await third.stop();
    // It is shop's from now on, also for whoever had it before.
    const fourth = await start(NAMES, { triage: { namespace: 'pay' } }, 'ops', first.dir);
    expect((await names(fourth)).loaded).toEqual([]);
  },
);

test('a name comes back to the namespace that had it, and the operator takes any', async () => {
  const first = await start(NAMES, { triage: { namespace: 'pay' } });
  synced(first.dir, {});
  await first.ask('POST', '/reload');
  for (const namespace of ['pay', 'ops']) {
    synced(first.dir, { triage: { namespace } });
    await first.ask('POST', '/reload');
    expect((await names(first)).loaded).toEqual(['triage']);
  }
});
