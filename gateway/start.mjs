// Plain JavaScript on purpose: an old Node must reach this message before it meets TypeScript.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `signalbox gateway needs Node 24 or newer, this is ${process.versions.node}. ` +
      'Run it with "npm run gateway" after "npm ci" (which brings its own Node), or install Node 24.\n',
  );
  process.exit(1);
}
// As the first process of a container we inherit what tool servers leave behind, and Node collects only its own children:
// a shell does it instead, passes signals on and ends with our exit code.
const COLLECT = `
child=
for signal in TERM INT HUP; do trap "[ -z \\$child ] || kill -s $signal \\$child" $signal; done
"$@" & child=$!
while :; do
  wait $child; code=$?
  kill -0 $child 2>/dev/null || exit $code
done`;
if (process.pid === 1 && process.platform === 'linux' && existsSync('/bin/sh'))
  process.execve('/bin/sh', [
    'sh',
    '-c',
    COLLECT,
    'sh',
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ]);

// Keeps compiled and type-stripped code between starts, which saves the next one time and memory.
module.enableCompileCache();
await import('./src/main.ts');
// A killed process keeps no cache, so it is written once the service listens; then what only the start needed is let go.
module.flushCompileCache();
setTimeout(() => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' });
}, 500).unref();
