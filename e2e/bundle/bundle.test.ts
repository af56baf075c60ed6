import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { startProcess } from '../support/start-service.ts';
import { packageOf } from './licences.ts';

/** Far from the repository, so that nothing is found in its node_modules. */
const scratch = scratchDirectory('signalbox-bundle-');
const place = scratch.path;
const dist = join(place, 'dist');
/** The Node of the tests is the one that `signalbox` finds. */
const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };

beforeAll(() => {
  const user = String(process.getuid?.());
  execFileSync(process.execPath, [join(import.meta.dirname, 'bundle.ts'), '--out', dist, '--user', user], { env });
});
afterAll(() => scratch[Symbol.dispose]());

const run = (...args: string[]) =>
  spawnSync(join(dist, 'signalbox'), args, { cwd: place, env, encoding: 'utf8', timeout: 60_000 });

test.each(['api-server', 'gateway', 'controller', 'agent-runner', 'backup', 'replay', 'validate'])(
  '%s prints its help with nothing but the bundle',
  (part) => {
    const { status, stdout, stderr } = run(part, '--help');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(part);
  },
);

test.each(['api-server', 'gateway', 'controller'])('%s of the bundle knows its version', (part) => {
  const manifest = readFileSync(join(import.meta.dirname, `../../${part}/package.json`), 'utf8');
  expect(run(part, '--version').stdout.trim()).toBe((JSON.parse(manifest) as { version: string }).version);
});

test.each(['api-server', 'gateway', 'controller', 'agent-runner'])('%s need not compile what it loads', (part) => {
  const cache = { NODE_COMPILE_CACHE: join(dist, 'compile-cache'), NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
  const { stderr } = spawnSync(join(dist, 'signalbox'), [part, '--help'], {
    env: { ...env, ...cache },
    encoding: 'utf8',
  });
  expect(stderr).toContain(`/${part}/start.mjs was accepted`);
  expect(stderr).not.toMatch(/\.mjs was rejected|was not accepted/);
});

test.each(['', '.object'])('the schemas for editors are beside the parts: NAME%s.schema.json', (suffix) => {
  for (const name of ['pipeline', 'library-step', 'agent']) {
    const text = readFileSync(join(dist, 'schemas', `${name}${suffix}.schema.json`), 'utf8');
    expect(text).toBe(
      readFileSync(join(import.meta.dirname, `../../crds/schemas/${name}${suffix}.schema.json`), 'utf8'),
    );
  }
});

test('an argument that names no part is refused with the list of them', () => {
  const { status, stdout } = run('sender');
  expect(status).toBe(1);
  expect(stdout).toContain('api-server|gateway|controller');
});

test('a bundle loads nothing but itself and what Node brings', () => {
  const asked = globSync(`${dist}/*/*.mjs`).flatMap((file) => {
    const calls = readFileSync(file, 'utf8').matchAll(
      /(?<=^|[;\n])import(?:[\w{},*$\s]+from)?\s*"([^"]+)"|__require\(["`]([^"`]+)["`]\)/g,
    );
    return [...calls].map(([, imported, required]) => imported ?? required ?? '');
  });
  const known = new Set(builtinModules);
  expect(asked).toContain('node:sqlite');
  expect(asked.filter((name) => !name.startsWith('./') && !name.startsWith('node:') && !known.has(name))).toEqual([]);
});

test('THIRD-PARTY-LICENSES names every package whose code is in a bundle', () => {
  const maps = globSync(`${dist}/*/*.map`).map(
    (file) => JSON.parse(readFileSync(file, 'utf8')) as { sources: string[] },
  );
  const folders = new Set(maps.flatMap(({ sources }) => sources).flatMap((source) => packageOf(source) ?? []));
  const names = [...folders].map((folder) => folder.replace(/^.*node_modules\//, ''));
  expect(names).toEqual(expect.arrayContaining(['fastify', '@kubernetes/client-node', '@ai-sdk/openai', 'zod', 'pg']));
  const licences = readFileSync(join(dist, 'THIRD-PARTY-LICENSES'), 'utf8');
  expect(names.filter((name) => !licences.includes(`\n${name} `))).toEqual([]);
});

test('the api-server of the bundle sends its pages, their styles, and what its reading thread answers', async () => {
  writeFileSync(
    join(place, 'api-server.yaml'),
    `server: {host: 127.0.0.1, port: 0}
pipeline_config_dir: .
database: {url: "sqlite:bundle.db"}
auth: {allow_unauthenticated: true}
executors: {gateway: {url: "ws://127.0.0.1:9/rpc"}}
`,
  );
  const args = [join(dist, 'api-server/start.mjs'), '--config', 'api-server.yaml'];
  const service = await startProcess('api-server', { command: process.execPath, args }, { cwd: place });
  try {
    const page = await (await fetch(`${service.url}/ui/`)).text();
    const [, sheet = ''] = /href="(\/ui\/assets\/[^"]+\.css)"/.exec(page) ?? [];
    expect(await (await fetch(service.url + sheet)).text()).toContain('--');
    const morph = sheet.replace('app.css', 'idiomorph.esm.js');
    expect(await (await fetch(service.url + morph)).text()).toContain('Idiomorph');
    expect(await (await fetch(`${service.url}/stats/pipelines`)).json()).toHaveProperty('pipelines');
  } finally {
    await service.stop();
  }
});

test('a signal that comes before the part has begun ends it', async () => {
  const child = spawn(join(dist, 'signalbox'), ['machine-tools'], { cwd: place, env, stdio: 'ignore' });
  await once(child, 'spawn');
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exit).toEqual([null, 'SIGTERM']);
});
