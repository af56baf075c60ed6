import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SyncManifest } from '@signalbox/crds';

/** Directories as the controller writes them for both services, with objects in every state. */
export interface ManagedObjects {
  apiServer: string;
  gateway: string;
}

type Reported = SyncManifest['objects'][number];
type Said = [type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string];

const SINCE = '2026-05-01T10:00:00Z';
const said = (...conditions: Said[]): Reported['conditions'] =>
  conditions.map(([type, status, reason, message]) => ({ type, status, reason, message, lastTransitionTime: SINCE }));
const accepted: Said = ['Accepted', 'True', 'Accepted', 'the spec is valid'];
const synced: Said = ['Synced', 'True', 'Synced', 'all 2 replicas serve this definition'];
const good = said(accepted, synced, ['Ready', 'True', 'Ready', 'accepted, and served by every replica']);
const ready: Reported['conditions'] = [
  ...good,
  ...said(['PromotionReady', 'False', 'Building', '12 of 20 runs that the readiness block asks for']),
];
const refused = (reason: string, message: string) =>
  said(['Accepted', 'False', reason, message], synced, ['Ready', 'False', reason, message]);
const behind = (message: string) =>
  said(accepted, ['Synced', 'False', 'OutOfDate', message], ['Ready', 'False', 'OutOfDate', message]);
const unready = (reason: string, message: string) => said(accepted, synced, ['Ready', 'False', reason, message]);

const HASH = '3f0c9a11be24';
const replicas = (...hashes: (string | null)[]) =>
  hashes.map((hash, index) => ({ pod: `10.244.0.${17 + index}:8000`, hash }));
const LONG =
  'spec.steps.0.prompt_template: is needed for executor gateway; spec.steps.0.promt_template: is no key of a step. The last accepted definition is served meanwhile.';

const PIPELINES: Omit<Reported, 'kind'>[] = [
  { namespace: 'team-payments', name: 'managed', conditions: ready, replicas: replicas(HASH, HASH) },
  { namespace: 'team-payments', name: 'refunds', conditions: refused('Invalid', LONG), replicas: replicas(HASH, HASH) },
  {
    namespace: 'team-storefront-and-checkout-experience',
    name: 'a-pipeline-with-quite-a-long-name-that-still-has-to-fit-a-phone',
    conditions: behind('1 of 2 replicas do not serve it yet'),
    replicas: replicas(HASH, 'b7c10d2e9f88'),
  },
  { namespace: 'default', name: 'just-applied', conditions: [], replicas: [] },
];
const STEPS: Omit<Reported, 'kind'>[] = [
  { namespace: 'team-payments', name: 'first-look', conditions: good, replicas: replicas(HASH, HASH) },
];
const AGENTS: Omit<Reported, 'kind'>[] = [
  { namespace: 'team-payments', name: 'triage', conditions: good, replicas: replicas(HASH) },
  {
    namespace: 'team-payments',
    name: 'investigator',
    conditions: unready('Starting', '0 of 2 pods are ready'),
    replicas: replicas(HASH),
  },
  {
    namespace: 'team-payments',
    name: 'reviewer',
    conditions: unready(
      'NameTaken',
      'the Service agent-reviewer does not belong to this Agent; delete it, or rename the Agent',
    ),
    replicas: replicas(HASH),
  },
];

const DEFINITION = `name: managed
description: Comes from a Kubernetes object
steps:
  - {name: look, executor: gateway, agent: machine-reader, prompt_template: "Look at {{summary}}"}
`;

export function writeManagedObjects(root: string): ManagedObjects {
  const at = { apiServer: join(root, 'managed'), gateway: join(root, 'managed-gateway') };
  for (const folder of [join(at.apiServer, 'pipelines'), join(at.apiServer, 'steps'), join(at.gateway, 'agents')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(at.apiServer, 'pipelines/managed.yaml'), DEFINITION);
  const own = [...PIPELINES.map(of('Pipeline')), ...STEPS.map(of('LibraryStep'))];
  const agents = AGENTS.map(of('Agent'));
  write(at.apiServer, own, (object) => `${object.kind === 'Pipeline' ? 'pipelines' : 'steps'}/${object.name}.yaml`);
  write(at.gateway, agents, ({ name }) => `agents/${name}/agent.yaml`);
  return at;
}

const of =
  (kind: Reported['kind']) =>
  (object: Omit<Reported, 'kind'>): Reported => ({ kind, ...object });

function write(directory: string, objects: Reported[], pathOf: (object: Reported) => string): void {
  const served = objects.filter(({ conditions }) => conditions.length > 0);
  const files = served.map((object) => {
    const { kind, namespace, name } = object;
    return [pathOf(object), { kind, namespace, name, uid: name, generation: 1, hash: HASH }] as const;
  });
  const manifest: SyncManifest = { files: Object.fromEntries(files), objects, agents: {} };
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest));
}
