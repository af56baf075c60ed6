// Plain JavaScript on purpose: an old Node must reach this message before it meets TypeScript.
import module from 'node:module';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `signalbox controller needs Node 24 or newer, this is ${process.versions.node}. ` +
      'Run it with "npm run controller" after "npm ci" (which brings its own Node), or install Node 24.\n',
  );
  process.exit(1);
}
// The C library gives each thread a heap of its own and keeps what was freed, 10 MB in every sidecar, and as much again in the
// holes that V8's compiler threads leave in a shared heap unless what they borrow is mapped by itself. V8 lets short-lived
// objects fill 100 MB before it looks at them, as when 500 Agents are made at once. All can be told otherwise at the start
// only, so the process begins once more, as itself.
if (process.platform === 'linux' && process.env.MALLOC_ARENA_MAX === undefined && process.execve) {
  const thrifty = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '8192', MALLOC_TRIM_THRESHOLD_: '65536' };
  const args = [process.execPath, ...process.execArgv, '--max-semi-space-size=4', ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, ...thrifty });
}
// Compiled and type-stripped code is kept between starts; a killed process keeps none, so it is written once a role listens.
module.enableCompileCache();
await import('./src/main.ts');
module.flushCompileCache();
