import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readNamespaces } from './namespaces.ts';

function folder(manifest?: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-namespaces-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  if (manifest !== undefined) writeFileSync(join(dir, 'manifest.json'), manifest);
  return dir;
}

const owner = { kind: 'Pipeline', namespace: 'shop', name: 'p', uid: 'u', generation: 1, hash: '' };
const MANIFEST = { namespace: 'ops', files: { 'pipelines/p.yaml': owner }, objects: [], agents: {} };

test('a file has the namespace of its object, and one that the manifest does not name an unknown one', async () => {
  const dir = folder(JSON.stringify(MANIFEST));
  const { home, of } = await readNamespaces(dir);
  expect([home, of(join(dir, 'pipelines/p.yaml')), of(join(dir, 'pipelines/q.yaml'))]).toEqual(['ops', 'shop', '']);
});

test('without a manifest no controller wrote the files, so they have none', async () => {
  const dir = folder();
  expect((await readNamespaces(dir)).of(join(dir, 'pipelines/p.yaml'))).toBeUndefined();
  expect((await readNamespaces(null)).of('/p.yaml')).toBeUndefined();
});

test.each(['', '{', '[]', '{"files": 1}', '{"files": {"pipelines/p.yaml": {"namespace": 3}}}'])(
  'a manifest that cannot be read, such as %j, admits nothing',
  async (text) => {
    const dir = folder(text);
    const { home, of } = await readNamespaces(dir);
    expect([home, of(join(dir, 'pipelines/p.yaml'))]).toEqual([null, '']);
  },
);
