import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KubeClient, pathOf, samplePipeline } from './kube-client.ts';
import { acceptedBody, type Seen } from './objects.ts';

const NAMES = Array.from({ length: 14 }, (_, index) => `churn-${index}`);
const BROKEN = [{ name: 'triage', executor: 'gateway', agent: 'sre-triage', prompt_template: '{{#if}}' }];

const good = (name: string, marker: string) => samplePipeline(name, marker);
const bad = (name: string, marker: string) => {
  const { spec, ...rest } = samplePipeline(name, marker);
  return { ...rest, spec: { ...spec, steps: BROKEN } };
};

type Change = 'good' | 'bad' | 'delete' | 'replace';
const CHANGES: readonly Change[] = ['good', 'good', 'good', 'bad', 'delete', 'replace'];

/** Changes objects at random, one after the other: new ones, better and worse ones, gone ones, others under the same name. */
export async function churn(client: KubeClient, random: () => number, changes: number): Promise<void> {
  for (let index = 0; index < changes; index++) {
    const name = NAMES[Math.floor(random() * NAMES.length)] ?? '';
    const change = CHANGES[Math.floor(random() * CHANGES.length)] ?? 'good';
    const marker = `${index}-${Math.floor(random() * 1e9)}`;
    if (change === 'delete' || change === 'replace') await client.send('DELETE', pathOf('pipelines', name));
    if (change !== 'delete') await put(client, name, (change === 'bad' ? bad : good)(name, marker));
  }
}

async function put(client: KubeClient, name: string, object: { spec: object }): Promise<void> {
  const { status } = await client.send('PATCH', pathOf('pipelines', name), { spec: object.spec });
  if (status === 404) await client.send('POST', pathOf('pipelines'), object);
}

export async function listPipelines(client: KubeClient): Promise<(Seen & { metadata: { name: string } })[]> {
  const { status, body } = await client.send('GET', pathOf('pipelines'));
  if (status !== 200) throw new Error(`the list of pipelines answered ${status}`);
  return (body as { items: (Seen & { metadata: { name: string } })[] }).items;
}

/** Differences of a directory and the statuses from what the objects require; empty where there are none. */
export async function faultsOf(client: KubeClient, directory: string): Promise<string[]> {
  const objects = await listPipelines(client);
  const wrong = objects.flatMap((object) => [...wrongFile(object, directory), ...wrongStatus(object)]);
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  const left = NAMES.filter((name) => !names.has(name) && existsSync(fileOf(directory, name)));
  return [...wrong, ...left.map((name) => `${name}: is gone and has a file`)];
}

/** Problems of a directory that holds every object as it is written, valid or not. */
export async function wrongCopies(client: KubeClient, directory: string): Promise<string[]> {
  const objects = await listPipelines(client);
  const names = new Set(objects.map(({ metadata }) => metadata.name));
  const stale = objects.filter(({ metadata, spec }) => !holds(fileOf(directory, metadata.name), spec['description']));
  const left = NAMES.filter((name) => !names.has(name) && existsSync(fileOf(directory, name)));
  return [...stale.map(({ metadata }) => metadata.name), ...left];
}

/** As `faultsOf`, for files only and without regard to what was accepted before. */
export async function wrongFiles(client: KubeClient, directory: string): Promise<string[]> {
  return (await faultsOf(client, directory)).filter((fault) => / file/.test(fault));
}

const fileOf = (directory: string, name: string) => join(directory, 'pipelines', `${name}.yaml`);
const MAX_BYTES = 256 * 1024;
const isGood = ({ spec }: Seen) => (spec['steps'] as unknown[]).length > 1 && JSON.stringify(spec).length < MAX_BYTES;

function wrongFile(object: Seen & { metadata: { name: string } }, directory: string): string[] {
  const { name } = object.metadata;
  const accepted = acceptedBody(object.status);
  const expected = isGood(object) ? object.spec['description'] : accepted?.['description'];
  // No edition was ever accepted: an existing file may stay.
  if (expected === undefined) return [];
  const path = fileOf(directory, name);
  if (!existsSync(path)) return [`${name}: has no file`];
  return holds(path, expected) ? [] : [`${name}: has a file of another time`];
}

const holds = (path: string, text: unknown): boolean =>
  existsSync(path) && readFileSync(path, 'utf8').includes(String(text));

function wrongStatus({ metadata, status, ...rest }: Seen & { metadata: { name: string } }): string[] {
  const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
  const expected = isGood({ metadata, ...rest }) ? 'True' : 'False';
  if (accepted?.status !== expected) return [`${metadata.name}: Accepted is ${accepted?.status}, not ${expected}`];
  const told = status?.['observedGeneration'];
  return told === metadata.generation ? [] : [`${metadata.name}: tells of ${String(told)}, not ${metadata.generation}`];
}
