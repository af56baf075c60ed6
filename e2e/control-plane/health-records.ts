/** Brings objects into every state that Argo CD may have to judge, on a real API server with a real manager. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../support/wait-for.ts';
import { createAccounts } from './accounts.ts';
import { flags, startController } from './controllers.ts';
import { type FakeDefinitions, startFakeDefinitions } from './fake-definitions.ts';
import { type FakeGateway, startFakeGateway } from './fake-gateway.ts';
import { markAvailable } from './loopback-pods.ts';
import { type Objects, objectsOf, type Seen } from './objects.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

/** An object as the API server answered it, cut to what a health check may look at. */
export interface HealthRecord {
  name: string;
  object: object;
}

interface World {
  plane: ControlPlane;
  objects: Objects;
  gateway: FakeGateway;
  service: FakeDefinitions;
  startManager(extra?: Record<string, string>): Promise<{ stop(): Promise<unknown> }>;
  keep(name: string, kind: string, object: string): Promise<void>;
}

export async function recordHealth(): Promise<HealthRecord[]> {
  const plane = await startControlPlane();
  const running: { stop(): Promise<unknown> }[] = [plane];
  const tracked = <T extends { stop(): Promise<unknown> }>(part: T): T => {
    running.push(part);
    return part;
  };
  try {
    await applyKinds(plane);
    const accounts = await createAccounts(plane);
    const objects = objectsOf(plane);
    const gateway = tracked(await startFakeGateway());
    gateway.hasKey = false;
    const service = tracked(await startFakeDefinitions());
    const config = join(plane.scratch, 'gateway.json');
    writeFileSync(config, JSON.stringify({ providers: { demo: { type: 'demo' } } }));
    const records: HealthRecord[] = [];
    const urls = { 'api-server-url': service.url, 'gateway-url': gateway.url, 'runner-image': 'signalbox:1' };
    const world: World = {
      plane,
      objects,
      gateway,
      service,
      startManager: async (settings = urls) => {
        const args = ['manager', '--leader-elect=false', ...flags({ 'gateway-config': config, ...settings })];
        return tracked(await startController(args, accounts.kubeconfig('manager')));
      },
      keep: async (name, kind, object) => {
        records.push({ name, object: cut(await objects.get(kind, object)) });
      },
    };
    await withoutAddress(world);
    await definitions(world);
    return records;
  } finally {
    for (const part of running.toReversed()) await part.stop();
  }
}

const STEP = { executor: 'gateway', agent: 'node-reader', prompt_template: 'Measure {{summary}}.' };
const pipeline = (change: object = {}) => ({ stage: 'production', steps: [{ name: 'read', ...STEP }], ...change });

async function withoutAddress({ objects, keep, startManager }: World): Promise<void> {
  await objects.apply('Pipeline', 'node-load', pipeline());
  await objects.apply('LibraryStep', 'measure-node', STEP);
  await keep('applied a moment ago', 'Pipeline', 'node-load');
  const manager = await startManager({});
  await objects.becomes('LibraryStep measure-node', 'Ready', 'Unknown NotObserved');
  await keep('a controller without an address of the services', 'LibraryStep', 'measure-node');
  await objects.becomes('Pipeline node-load', 'Accepted', 'True Accepted');
  await manager.stop();
}

async function definitions(world: World): Promise<void> {
  const { objects, keep, service, startManager } = world;
  let manager = await startManager();
  await objects.becomes('LibraryStep measure-node', 'Ready', 'False OutOfDate');
  await keep('on its way to the replicas', 'LibraryStep', 'measure-node');
  service.errors = [{ kind: 'LibraryStep', name: 'measure-node', msg: 'the file cannot be read' }];
  await objects.becomes('LibraryStep measure-node', 'Ready', 'False LoadError');
  await keep('a replica refuses it', 'LibraryStep', 'measure-node');
  service.errors = [];
  await serve(world, 'Pipeline', 'node-load', 'collecting');
  await serve(world, 'LibraryStep', 'measure-node');
  await objects.becomes('Pipeline node-load', 'Ready', 'True Ready');
  await keep('accepted and served, whatever the evidence says', 'Pipeline', 'node-load');
  await manager.stop();
  await objects.apply('Pipeline', 'node-load', pipeline({ promt: 'x' }));
  await keep('a new edition that was not looked at yet', 'Pipeline', 'node-load');
  manager = await startManager();
  await objects.becomes('Pipeline node-load', 'Ready', 'False Invalid');
  await keep('a broken edition; the last good one is served', 'Pipeline', 'node-load');
  await objects.apply('Pipeline', 'node-load', pipeline({ suspend: true }));
  await objects.becomes('Pipeline node-load', 'Accepted', 'True Accepted');
  await serve(world, 'Pipeline', 'node-load');
  await objects.becomes('Pipeline node-load', 'Ready', 'True Ready');
  await keep('suspended', 'Pipeline', 'node-load');
  await objects.apply('Pipeline', 'node-load-again', pipeline({ suspend: true, name: 'node-load' }));
  await objects.becomes('Pipeline node-load-again', 'Ready', 'False NameConflict');
  await keep('suspended and broken is broken', 'Pipeline', 'node-load-again');
  await agents(world);
  service.down = true;
  await objects.becomes('LibraryStep measure-node', 'Ready', 'Unknown Unreachable');
  await keep('a replica does not answer', 'LibraryStep', 'measure-node');
  await manager.stop();
}

/** The service reports from now on that it has loaded the object in its present form. */
async function serve({ objects, service }: World, kind: 'Pipeline' | 'LibraryStep', name: string, verdict?: string) {
  const { status } = await objects.get(kind, name);
  const others = service.definitions.filter((one) => one.kind !== kind || one.name !== name);
  const hash = String(status?.['contentHash']);
  service.definitions = [...others, { kind, name, hash, ...(verdict === undefined ? {} : { verdict }) }];
}

async function agents({ objects, gateway, plane, keep }: World): Promise<void> {
  const spec = { model: 'demo/scripted', soul: 'Be brief.' };
  gateway.serve('node-reader', spec);
  gateway.serve('taken', spec);
  await objects.apply('Agent', 'node-reader', spec);
  await objects.becomes('Agent node-reader', 'Ready', 'Unknown NoRunnerKey');
  await keep('no gateway has said yet which key its pods trust', 'Agent', 'node-reader');
  gateway.hasKey = true;
  await objects.becomes('Agent node-reader', 'Ready', 'False Starting');
  const created = () => plane.kubectl(['get', 'deployment', 'agent-node-reader', '-o', 'name']);
  await waitFor(created, { what: 'its Deployment', timeoutMs: 60_000 });
  const counted = async () => {
    const { status } = await objects.get('Agent', 'node-reader');
    return /\d of \d/.test(status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '');
  };
  await waitFor(counted, { what: 'its pods to be counted', timeoutMs: 60_000, everyMs: 200 });
  await keep('its pods start', 'Agent', 'node-reader');
  await markAvailable(plane, 'agent-node-reader', { generation: 1, count: 1 });
  await objects.becomes('Agent node-reader', 'Ready', 'True Ready');
  await keep('its pods are there', 'Agent', 'node-reader');
  const message = 'ReplicaSet "agent-node-reader-1" has timed out progressing.';
  const failed = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message };
  const patch = JSON.stringify({ status: { conditions: [failed] } });
  await plane.kubectl([
    'patch',
    'deployment',
    'agent-node-reader',
    '--subresource=status',
    '--type=merge',
    '-p',
    patch,
  ]);
  await objects.becomes('Agent node-reader', 'Ready', 'False DeploymentUnavailable');
  await keep('its pods do not come up', 'Agent', 'node-reader');
  await plane.kubectl(['create', 'service', 'clusterip', 'agent-taken', '--tcp=80:80']);
  await objects.apply('Agent', 'taken', spec);
  await objects.becomes('Agent taken', 'Ready', 'False NameTaken');
  await keep('a Service of its name is somebody else’s', 'Agent', 'taken');
}

/** Without what is another in every cluster: times and the ports of this one's services. */
function cut({ metadata, spec, status, ...about }: Seen): object {
  const { name, generation } = metadata as Seen['metadata'] & { name: string };
  const conditions = status?.conditions?.map((condition) => ({
    ...condition,
    message: condition.message.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8000'),
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
  const told = { observedGeneration: status?.['observedGeneration'], conditions };
  return { ...about, metadata: { name, generation }, spec, ...(status === undefined ? {} : { status: told }) };
}
