import type { TenancyRules } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { type CustomObject, withoutAccepted, withoutSpec } from '../objects/custom-object.ts';
import { objectOf, STEP } from '../testing/objects.ts';
import { digestOf, type FilePlan, planFiles } from './file-plan.ts';
import { plan } from './plan.ts';

const using = { steps: [{ name: 'first', use: 'look' }] };
const broken = { steps: [] };
const nothing: FilePlan = { files: new Map(), manifest: { files: {}, objects: [], agents: {} } };

function next(before: FilePlan, objects: readonly CustomObject[], isGone = true, tenancy?: TenancyRules): FilePlan {
  return planFiles({
    verdicts: plan(objects, { tenancy }),
    home: 'ops',
    tenancy,
    owners: before.manifest.files,
    digestAt: (path) => before.files.get(path)?.digest ?? null,
    textAt: (path) => textIn(before, path),
    isGone: () => isGone,
  });
}

const textIn = ({ files }: FilePlan, path: string) => files.get(path)?.text() ?? '';
const paths = ({ files }: FilePlan) => [...files.keys()].toSorted();
const all = [
  objectOf({ spec: using }),
  objectOf({ kind: 'LibraryStep', name: 'look' }),
  objectOf({ kind: 'Agent', name: 'helper' }),
];
const full = next(nothing, all);

test('each kind has its files, and the manifest says from which object', () => {
  expect(paths(full)).toEqual([
    'agents/helper/agent.yaml',
    'agents/helper/soul.md',
    'pipelines/checkout.yaml',
    'steps/look.yaml',
  ]);
  expect(full.manifest.namespace).toBe('ops');
  expect(full.manifest.files['pipelines/checkout.yaml']).toMatchObject({
    kind: 'Pipeline',
    namespace: 'default',
    name: 'checkout',
    generation: 1,
  });
  expect(full.manifest.objects.map(({ name }) => name)).toEqual(['helper', 'look', 'checkout']);
});

test('what was deleted goes, what may only seem to be gone stays', () => {
  expect(paths(next(full, []))).toEqual([]);
  expect(paths(next(full, [], false))).toEqual(paths(full));
});

test('an object that broke before anything of it was accepted keeps the file that is there', () => {
  const bad = next(full, [objectOf({ spec: broken })]);
  expect(bad.files.get('pipelines/checkout.yaml')?.digest).toBe(full.files.get('pipelines/checkout.yaml')?.digest);
  expect(textIn(bad, 'pipelines/checkout.yaml')).toBe(textIn(full, 'pipelines/checkout.yaml'));
});

test('a step stays while a file that stayed names it', () => {
  const [pipeline] = all;
  expect(paths(next(full, pipeline ? [pipeline] : []))).toEqual(['pipelines/checkout.yaml', 'steps/look.yaml']);
});

test('an object that was replaced under its name does not keep the files of the one before', () => {
  expect(paths(next(full, [objectOf({ uid: 'another', spec: broken })]))).toEqual([]);
});

test('an object that lost its name keeps no file of its own', () => {
  const older = objectOf({ namespace: 'older', createdAt: '2020-01-01T00:00:00Z', spec: broken });
  expect(paths(next(full, [older, objectOf({ spec: using })]))).toEqual([]);
});

test('a definition that was renamed leaves no file under its old name, even where lists are doubtful', () => {
  const before = next(nothing, [objectOf()]);
  const renamed = objectOf({ spec: { ...objectOf().spec, name: 'till' }, generation: 2 });
  expect(paths(next(before, [renamed], false))).toEqual(['pipelines/till.yaml']);
});

test('a file that is as it was written for its edition is not formatted again', () => {
  const before = next(nothing, [objectOf()]);
  const formatted = (object: CustomObject, present: string | null) => {
    let times = 0;
    const verdicts = plan([object], undefined).map(({ served, ...verdict }) => ({
      ...verdict,
      served: served && {
        ...served,
        get text() {
          times += 1;
          return served.text;
        },
      },
    }));
    planFiles({
      verdicts,
      home: 'ops',
      tenancy: undefined,
      owners: before.manifest.files,
      digestAt: () => present && digestOf(present),
      textAt: () => present ?? '',
      isGone: () => true,
    });
    return times;
  };
  const written = textIn(before, 'pipelines/checkout.yaml');
  expect(formatted(objectOf(), written)).toBe(0);
  expect(formatted(objectOf(), `${written}# by hand\n`)).toBe(1);
  expect(formatted(objectOf(), null)).toBe(1);
  expect(formatted(objectOf({ generation: 2 }), written)).toBe(1);
});

test('of the texts that a plan makes only 4 MiB stay until its files are written, and none after that', () => {
  let made = 0;
  const soul = 'x'.repeat(500_000);
  const agents = Array.from({ length: 20 }, (_, at) => objectOf({ kind: 'Agent', name: `a${at}` }));
  const verdicts = plan(agents, undefined).map(({ served, ...verdict }) => ({
    ...verdict,
    served: served && {
      ...served,
      get soul() {
        made += 1;
        return soul;
      },
    },
  }));
  const madeToWrite = () => {
    const { files } = planFiles({
      verdicts,
      home: 'ops',
      tenancy: undefined,
      owners: {},
      digestAt: () => null,
      textAt: () => '',
      isGone: () => true,
    });
    made = 0;
    for (const { digest, text } of files.values()) expect(digestOf(text())).toBe(digest);
    return made;
  };
  expect(madeToWrite()).toBe(12);
  expect(madeToWrite()).toBe(20);
});

test('a file follows the object from its spec to the body that was accepted last, though both have one hash', () => {
  const step = objectOf({ kind: 'LibraryStep', name: 'look' });
  const accepted = plan([objectOf({ spec: using }), step], undefined).find(({ object }) => object.kind === 'Pipeline');
  const object = objectOf({ spec: using, status: { lastAccepted: accepted?.body ?? {} } });
  const before = next(nothing, [object, step]);
  expect(textIn(before, 'pipelines/checkout.yaml')).toContain('use: look');
  const after = textIn(next(before, [object]), 'pipelines/checkout.yaml');
  expect(after).toContain('prompt_template:');
  expect(after).not.toContain('use: look');
});

test('an agent without room for its spec is served as it was accepted last, with the address of its pods', () => {
  const spec = { model: 'demo/any', soul: 'Be brief.\n', runtime: {} };
  const written = objectOf({ kind: 'Agent', name: 'helper', spec });
  const [verdict] = plan([written], undefined);
  const crowded = withoutSpec(objectOf({ ...written, status: { lastAccepted: verdict!.body! } }));
  const after = next(nothing, [crowded]);
  expect(paths(after)).toEqual(paths(next(nothing, [written])));
  expect(Object.keys(after.manifest.agents)).toEqual(['helper']);
  const bare = next(after, [withoutAccepted(crowded)]);
  expect(paths(bare)).toEqual(paths(after));
});

test.each([
  ['nothing is known of what was accepted', {}],
  ['what was accepted cannot be read', { status: { lastAccepted: { hash: '', gzip: 'x' } } }],
  ['its object seems to be gone', null],
])('the file of an agent goes once its namespace lost the right to its name, where %s', (_, changed) => {
  const spec = { name: 'prod-db', model: 'demo/any', soul: 'x' };
  const agent = objectOf({ kind: 'Agent', name: 'a', namespace: 'shop', spec });
  const broken = { ...agent, spec: { name: 'fine', tools: 1 }, generation: 2 };
  const objects = changed ? [objectOf({ ...broken, ...changed })] : [];
  const before = next(nothing, [agent]);
  const after = (agents: string[]) => {
    const tenancy = { open: false, library: [], home: 'ops', namespaces: { shop: { agents } } } as TenancyRules;
    return paths(next(before, objects, false, tenancy));
  };
  expect(after(['fine'])).toEqual([]);
  expect(after(['fine', 'prod-*'])).toEqual(paths(before));
});

test('of two objects that were accepted under one name the text that is written is that of the digest', () => {
  const refused = (name: string, description: string, createdAt: string) => {
    const lastAccepted = { name: 'shared', description, steps: [{ name: 'a', ...STEP }] };
    return objectOf({ name, createdAt, spec: broken, status: { lastAccepted } });
  };
  const first = refused('first', 'small', '2025-01-01T00:00:00Z');
  const second = refused('second', 'x'.repeat(200_000), '2027-01-01T00:00:00Z');
  // With them there is room for the text of the first only.
  const spec = { model: 'demo/any', soul: 'x'.repeat(200_000) };
  const agents = Array.from({ length: 20 }, (_, at) => objectOf({ kind: 'Agent', name: `a${at}`, spec }));
  const shared = next(nothing, [first, ...agents, second]).files.get('pipelines/shared.yaml');
  expect(digestOf(shared?.text() ?? '')).toBe(shared?.digest);
});
