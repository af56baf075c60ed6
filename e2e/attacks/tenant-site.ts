/** An api-server that several namespaces share, with their pipelines as a controller writes them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from '../support/call.ts';
import type { Service } from '../support/start-service.ts';

export const tokenOf = (role: string) => `token-of-${role}-for-the-test`;

/** By namespace and name. */
export type Pipelines = Record<string, Record<string, object>>;

/** A pipeline takes the alerts whose label `starts` is its name, where it says nothing else. */
export function writeManaged(directory: string, pipelines: Pipelines): void {
  mkdirSync(join(directory, 'pipelines'), { recursive: true });
  const files = Object.entries(pipelines).flatMap(([namespace, bodies]) =>
    Object.entries(bodies).map(([name, body]) => {
      const pipeline = { name, stage: 'production', trigger: { match: { 'labels.starts': name } }, ...body };
      writeFileSync(join(directory, `pipelines/${name}.yaml`), JSON.stringify(pipeline));
      return [`pipelines/${name}.yaml`, { kind: 'Pipeline', namespace, name, uid: name, generation: 1, hash: '' }];
    }),
  );
  const manifest = { namespace: 'ops', files: Object.fromEntries(files) as object, objects: [], agents: {} };
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest));
}

interface Site {
  pipelines: Pipelines;
  /** `tenancy.namespaces`. */
  namespaces: Record<string, object>;
  /** Further settings. */
  more?: object;
}

/** Writes what an api-server needs into a folder; answers the path of its configuration. */
export function configureTenants(directory: string, { pipelines, namespaces, more = {} }: Site): string {
  writeManaged(join(directory, 'managed'), pipelines);
  const settings = {
    server: { host: '127.0.0.1', port: 0 },
    managed_dir: 'managed',
    database: { url: 'sqlite:signalbox.db' },
    tenancy: { namespaces },
    auth: {
      tokens: ['webhook', 'viewer', 'operator'].map((role) => ({ name: role, token: tokenOf(role), role })),
    },
    ...more,
  };
  const path = join(directory, 'config.json');
  writeFileSync(path, JSON.stringify(settings));
  return path;
}

/** Starts a run of the pipeline of this name. */
export async function alert(
  { url }: Service,
  starts: string,
  { alertname = 'Busy', annotations = {} } = {},
): Promise<{ status: number; run: string }> {
  const alerts = [{ status: 'firing', labels: { alertname, starts }, annotations }];
  const sent = { token: tokenOf('webhook'), body: { alerts } };
  const { status, body } = await call<{ run_id: string }>(`${url}/webhook?source=alert_router`, sent);
  return { status, run: body.run_id };
}

export const read = async <T>({ url }: Service, path: string): Promise<T> =>
  (await call<T>(`${url}${path}`, { token: tokenOf('viewer') })).body;
