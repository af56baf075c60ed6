import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { render } from '../charts/helm.ts';
import type { Service } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { flags, metricOf, startController } from './controllers.ts';
import { type FakeGateway, startFakeGateway } from './fake-gateway.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import { type Objects, objectsOf } from './objects.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

const PATIENCE = { timeoutMs: 120_000, everyMs: 100 };
const RIGHTS = new Set(['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding', 'Lease']);
const RELEASE = 'ops';
const steps = [{ name: 'ask', executor: 'gateway', agent: 'triage', prompt_template: 'Say something.' }];

let plane: ControlPlane;
let objects: Objects;
let manager: Service;
let sync: Service;
let gateway: FakeGateway;

/** The rights of the chart with its default values, and the programs with the flags that it gives them. */
beforeAll(async () => {
  plane = await startControlPlane();
  objects = objectsOf(plane);
  await applyKinds(plane);
  for (const name of [RELEASE, 'elsewhere']) await plane.kubectl(['create', 'namespace', name]);
  const items = (await render()).filter(({ kind }) => RIGHTS.has(kind));
  await plane.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  gateway = await startFakeGateway();
  const config = join(plane.scratch, 'gateway.json');
  writeFileSync(config, JSON.stringify({ providers: { demo: { type: 'demo' } } }));
  mkdirSync(join(plane.scratch, 'managed'));
  await waitFor(async () => (await mayI('controller', 'create', 'deployments', RELEASE)) === 'yes', {
    what: 'the rights to hold',
    ...PATIENCE,
  });
  const namespaces = { namespaces: RELEASE };
  manager = await startController(
    [
      'manager',
      ...flags({
        'gateway-config': config,
        'gateway-url': gateway.url,
        'runner-image': 'signalbox:1',
        'gateway-namespace': RELEASE,
        ...namespaces,
      }),
    ],
    await accountOf('controller'),
  );
  sync = await startController(
    ['sync', ...flags({ kinds: 'Pipeline,LibraryStep', dir: join(plane.scratch, 'managed'), ...namespaces })],
    await accountOf('api-server'),
  );
}, 600_000);
afterAll(async () => {
  await sync?.stop();
  await manager?.stop();
  await gateway?.stop();
  await plane?.stop();
});

async function accountOf(part: string): Promise<string> {
  const token = (await plane.kubectl(['create', 'token', `sb-${part}`, '-n', RELEASE, '--duration=2h'])).trim();
  const file = join(plane.scratch, `kubeconfig-${part}.json`);
  const { server, caFile } = plane;
  writeFileSync(file, kubeconfigOf({ server, token, caFile, namespace: RELEASE }), { mode: 0o600 });
  return file;
}

const mayI = (part: string, verb: string, resource: string, namespace: string): Promise<string> =>
  plane
    .kubectl(['auth', 'can-i', verb, resource, '-n', namespace, '--as', `system:serviceaccount:${RELEASE}:sb-${part}`])
    .catch((error: Error & { stdout?: string }) => error.stdout ?? '')
    .then((said) => said.trim());

test('the controller works with these rights: it judges, writes files, and makes the pods of an agent', async () => {
  await objects.apply('Pipeline', 'checkout', { steps }, { namespace: RELEASE });
  await objects.apply('Agent', 'triage', { model: 'demo/scripted', soul: 'You answer.' }, { namespace: RELEASE });
  await objects.becomes(`Pipeline ${RELEASE}/checkout`, 'Accepted', 'True Accepted');
  await waitFor(() => existsSync(join(plane.scratch, 'managed/pipelines/checkout.yaml')), {
    what: 'the file of the pipeline',
    ...PATIENCE,
  });
  const made = async () =>
    (await plane.kubectl(['get', 'deployment,service,networkpolicy', '-n', RELEASE, '-o', 'name'])).trim().split('\n');
  await waitFor(async () => (await made()).length === 3, { what: "the agent's children", ...PATIENCE });
  expect((await made()).every((name) => name.endsWith('/agent-triage'))).toBe(true);
  expect(await metricOf(manager, 'controller_status_writes_total{outcome="failed"}')).toBe(0);
});

test('an object of another namespace is neither judged nor written', async () => {
  await objects.apply('Pipeline', 'foreign', { steps }, { namespace: 'elsewhere' });
  await objects.apply('Pipeline', 'later', { steps }, { namespace: RELEASE });
  await objects.becomes(`Pipeline ${RELEASE}/later`, 'Accepted', 'True Accepted');
  await waitFor(() => existsSync(join(plane.scratch, 'managed/pipelines/later.yaml')), {
    what: 'the file of the later pipeline',
    ...PATIENCE,
  });
  expect((await objects.get('Pipeline', 'foreign', 'elsewhere')).status).toBeUndefined();
  expect(existsSync(join(plane.scratch, 'managed/pipelines/foreign.yaml'))).toBe(false);
});

test.each([
  ['controller', 'create', 'deployments', 'elsewhere'],
  ['controller', 'list', 'pipelines.signalbox.dev', 'elsewhere'],
  ['controller', 'get', 'secrets', RELEASE],
  ['controller', 'create', 'pods', RELEASE],
  ['controller', 'update', 'pipelines.signalbox.dev', RELEASE],
  ['controller', 'create', 'roles.rbac.authorization.k8s.io', RELEASE],
  ['api-server', 'patch', 'pipelines.signalbox.dev/status', RELEASE],
  ['api-server', 'list', 'agents.signalbox.dev', RELEASE],
  ['api-server', 'get', 'secrets', RELEASE],
  ['gateway', 'list', 'pipelines.signalbox.dev', RELEASE],
  ['gateway', 'list', 'agents.signalbox.dev', 'elsewhere'],
])('%s may not %s %s in %s', async (part, verb, resource, namespace) => {
  expect(await mayI(part, verb, resource, namespace)).toBe('no');
});
