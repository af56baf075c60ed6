import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CustomObject } from '../objects/custom-object.ts';
import { planFiles } from '../plan/file-plan.ts';
import { plan } from '../plan/plan.ts';
import { objectOf } from '../testing/objects.ts';
import { openManagedDirectory } from './managed-directory.ts';

let root = '';
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'managed-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const sync = (objects: readonly CustomObject[]) => syncWith(objects);
async function syncWith(objects: readonly CustomObject[], step?: () => void) {
  const directory = await openManagedDirectory(root, ['Pipeline', 'LibraryStep', 'Agent'], step);
  const { owners, ...known } = directory;
  const verdicts = plan(objects, undefined);
  return directory.apply(
    planFiles({ ...known, verdicts, home: 'ops', tenancy: undefined, owners: owners(), isGone: () => true }),
  );
}
const inodes = () =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => `${path} ${statSync(join(root, path)).ino}`)
    .toSorted();

const three = [objectOf(), objectOf({ name: 'till' }), objectOf({ kind: 'Agent', name: 'helper' })];

test('writes what is missing and deletes what is gone, with the manifest to say whose it is', async () => {
  expect(await sync(three)).toEqual({ written: 4, deleted: 0 });
  expect(readFileSync(join(root, 'agents/helper/soul.md'), 'utf8')).toBe('Be brief.\n');
  expect(await sync(three.slice(0, 1))).toEqual({ written: 0, deleted: 3 });
  expect(readdirSync(root, { recursive: true }).toSorted()).toEqual([
    'agents',
    'manifest.json',
    'pipelines',
    'pipelines/checkout.yaml',
    'steps',
  ]);
});

test('a restart with nothing changed rewrites no file, the manifest neither', async () => {
  await sync(three);
  const before = inodes();
  expect(await sync(three.toReversed())).toEqual({ written: 0, deleted: 0 });
  expect(inodes()).toEqual(before);
});

test('only the file of what changed is written', async () => {
  await sync(three);
  const before = new Set(inodes());
  await sync([objectOf({ generation: 2, spec: { ...objectOf().spec, description: 'new' } }), ...three.slice(1)]);
  const changed = inodes().filter((line) => !before.has(line));
  expect(changed.map((line) => line.split(' ')[0])).toEqual(['manifest.json', 'pipelines/checkout.yaml']);
});

test('files of others stay, wherever they are; leftovers of a crash go', async () => {
  await sync(three);
  writeFileSync(join(root, 'pipelines/by-hand.yaml'), 'mine');
  writeFileSync(join(root, 'agents/helper/notes.md'), 'mine');
  writeFileSync(join(root, 'pipelines/.0123456789ab.sync-tmp'), 'half');
  await sync([]);
  expect(readdirSync(root, { recursive: true }).toSorted()).toEqual([
    'agents',
    'agents/helper',
    'agents/helper/notes.md',
    'manifest.json',
    'pipelines',
    'pipelines/by-hand.yaml',
    'steps',
  ]);
});

test('paths in a manifest that lead elsewhere are not followed', async () => {
  mkdirSync(join(root, 'inside'));
  const victim = join(root, 'victim.yaml');
  writeFileSync(victim, 'mine');
  const owner = { kind: 'Pipeline', namespace: 'a', name: 'a', uid: 'a', generation: 1, hash: '' };
  const files = { '../victim.yaml': owner, 'pipelines/../victim.yaml': owner, 'victim.yaml': owner };
  writeFileSync(join(root, 'manifest.json'), JSON.stringify({ files, objects: [], agents: {} }));
  await sync([]);
  expect(readFileSync(victim, 'utf8')).toBe('mine');
});

test('a crash at any step leaves whole files, and the next start ends where it would have', async () => {
  const next = [
    objectOf({ generation: 2, spec: { ...objectOf().spec, description: 'new' } }),
    objectOf({ name: 'bill' }),
  ];
  const contents = () =>
    Object.fromEntries(
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((path) => statSync(join(root, path)).isFile() && !path.endsWith('.sync-tmp'))
        .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
    );
  const emptied = () => {
    rmSync(root, { recursive: true, force: true });
    mkdirSync(root);
  };
  await sync(three);
  const before = contents();
  await sync(next);
  const after = contents();
  const isWhole = ([path, text]: [string, string]) =>
    path === 'manifest.json' ? JSON.parse(text) !== null : [before[path], after[path]].includes(text);

  let steps = 0;
  for (let crashed = true; crashed;) {
    emptied();
    await sync(three);
    let left = ++steps;
    crashed = await syncWith(next, () => {
      // Once dead, nothing more happens: whatever else is under way ends here too.
      if (--left <= 0) throw new Error('killed');
    }).then(
      () => false,
      () => true,
    );
    expect(Object.entries(contents()).every(isWhole)).toBe(true);
    await sync(next);
    expect(contents()).toEqual(after);
  }
  expect(steps).toBeGreaterThan(20);
}, 60_000);

test('where a file cannot be written, the others of its batch are before the error is said', async () => {
  const objects = Array.from({ length: 20 }, (_, at) => objectOf({ name: `p-${at}` }));
  let failed = false;
  const step = () => {
    // The folders are made by then.
    if (failed || !existsSync(join(root, 'manifest.json'))) return;
    const { length } = readdirSync(join(root, 'pipelines'));
    failed = length > 0;
    if (failed) throw new Error('no space');
  };
  await expect(syncWith(objects, step)).rejects.toThrow('no space');
  expect(readdirSync(join(root, 'pipelines')).filter((path) => /^p-\d+\.yaml$/.test(path))).toHaveLength(19);
  expect(readdirSync(join(root, 'pipelines'))).toHaveLength(19);
});

test('at every moment the manifest names the files that are there', async () => {
  const files = () =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /^[a-z].*\.(yaml|md)$/.test(path));
  const named = () => {
    const text = existsSync(join(root, 'manifest.json')) ? readFileSync(join(root, 'manifest.json'), 'utf8') : '{}';
    return Object.keys((JSON.parse(text) as { files?: object }).files ?? {});
  };
  const step = () => expect(named()).toEqual(expect.arrayContaining(files()));
  await syncWith(three, step);
  await syncWith(three.slice(1), step);
});
