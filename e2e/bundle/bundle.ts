/** `npm run bundle`: each part of Signalbox as one folder of plain JavaScript, which is what the image runs. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { readOptions } from '@signalbox/crds/process/command-line';
import { type Plugin, rolldown } from 'rolldown';
import { filesBeside } from './files-beside.ts';
import { licencesOf, packageOf } from './licences.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The first argument of the image -> where it begins, and the folder whose files it reads at run time. */
const PARTS = {
  'api-server': 'api-server/start.mjs',
  gateway: 'gateway/start.mjs',
  controller: 'controller/start.mjs',
  'agent-runner': 'gateway/runner.mjs',
  backup: 'api-server/backup.mjs',
  replay: 'api-server/replay.mjs',
  validate: 'crds/validate.mjs',
  'machine-tools': 'config/local/machine-tools/server.ts',
};

const HELP = `npm run bundle [-- --out DIR]: what the image runs, in DIR (./dist)

  DIR/PART/start.mjs          ${Object.keys(PARTS).join(', ')}
  DIR/signalbox               starts the part that its first argument names
  DIR/schemas                 JSON Schemas of definitions and objects, for editors
  DIR/THIRD-PARTY-LICENSES    the licence of every package in the bundles
  DIR/compile-cache           with --user: compiled code for NODE_COMPILE_CACHE, which shortens the start of the services

  --user UID   the user who starts them, which Node wants to know; only root can name another than itself
  --help       this text
`;

/** Its ES modules load gRPC in a way that no bundler sees, its CommonJS modules do not. */
const GRPC = '@opentelemetry/otlp-grpc-exporter-base';

/** Faster twins that libraries try to load and do without; asked for at run time, they could come from any folder that Node looks in. */
const OPTIONAL = /^(bufferutil|pg-native|utf-8-validate)$/;
const absent: Plugin = {
  name: 'absent',
  resolveId: { filter: { id: OPTIONAL }, handler: (id) => `\0absent:${id}` },
  load: { filter: { id: /^\0absent:/ }, handler: () => "throw new Error('not in this bundle');" },
};

/** Bundles one part; answers the folders of the packages that are in it. */
async function bundlePart(out: string, name: string, entry: string): Promise<string[]> {
  const beside = filesBeside(dirname(join(ROOT, entry)));
  const build = await rolldown({
    input: { start: join(ROOT, entry) },
    platform: 'node',
    // The client of Kubernetes is three quarters of the controller, most of it kinds that nobody asks for. Of the contract a gateway
    // needs no templates and expressions.
    treeshake: { moduleSideEffects: (id) => !/\/@kubernetes\/client-node\/|\/crds\/src\/(?!cli|process)/.test(id) },
    resolve: { alias: { [GRPC]: join(ROOT, 'node_modules', GRPC, 'dist/index.cjs') } },
    plugins: [beside.plugin, absent],
    checks: { pluginTimings: false },
  });
  const dir = join(out, name);
  const { output } = await build.write({
    dir,
    format: 'esm',
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    sourcemap: true,
    sourcemapExcludeSources: true,
    // V8 keeps the text of what it runs in memory. Names at the top of a module stay, and those that programs read.
    minify: { mangle: { toplevel: false } },
    keepNames: true,
  });
  await build.close();
  for (const file of beside.files()) copyInto(dir, dirname(join(ROOT, entry)), file);
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  return [...modules, ...beside.resolved].flatMap((id) => packageOf(id) ?? []);
}

function copyInto(dir: string, from: string, file: string): void {
  const target = join(dir, relative(from, file));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(file, target);
}

/** Parts that run for long, and listen sooner where they need not compile what they load. */
const SERVICES = ['api-server', 'gateway', 'controller', 'agent-runner'];

/** Node keeps compiled code for the user who starts it, in a folder named after that user and the kind of processor. */
function compileAhead(out: string, uid: number): void {
  const cache = join(out, 'compile-cache');
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache);
  chownSync(cache, uid, -1);
  const env = { ...process.env, NODE_COMPILE_CACHE: cache };
  for (const part of SERVICES) execFileSync(join(out, 'signalbox'), [part, '--help'], { env, uid });
  // A copy of it belongs to root: who only reads it cannot change what runs.
  for (const path of globSync(`${cache}/**/*`)) chmodSync(path, 0o755);
}

async function main(): Promise<void> {
  const { values } = readOptions('bundle', HELP, {
    options: { out: { type: 'string', default: 'dist' }, user: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) return void process.stdout.write(HELP);
  const out = resolve(values.out);
  const packages = new Set<string>();
  for (const [name, entry] of Object.entries(PARTS)) {
    rmSync(join(out, name), { recursive: true, force: true });
    for (const folder of await bundlePart(out, name, entry)) packages.add(folder);
  }
  cpSync(join(import.meta.dirname, 'signalbox'), join(out, 'signalbox'));
  cpSync(join(ROOT, 'crds/schemas'), join(out, 'schemas'), { recursive: true });
  cpSync(join(ROOT, 'LICENSE'), join(out, 'LICENSE'));
  writeFileSync(join(out, 'THIRD-PARTY-LICENSES'), licencesOf([...packages]));
  if (values.user !== undefined) compileAhead(out, Number(values.user));
  const files = globSync(`${out}/**/*.mjs`).length;
  console.log(
    `${Object.keys(PARTS).length} parts, ${files} files, ${packages.size} packages: ${relative(process.cwd(), out)}`,
  );
}

await main();
