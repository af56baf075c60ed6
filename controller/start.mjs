import module from 'node:module';
import { needNode } from '@signalbox/crds/process/need-node';

needNode('controller');
// Unless limited where the process starts, V8's young generation takes 50 MB, and malloc keeps a heap for each thread and what
// was freed.
if (process.platform === 'linux' && process.env.MALLOC_ARENA_MAX === undefined && process.execve) {
  const args = [process.execPath, ...process.execArgv, '--max-semi-space-size=4', ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...process.env, MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '65536' });
}
// Compiled and type-stripped code is kept between starts; a killed process keeps none, so it is written once a role listens.
module.enableCompileCache();
await import('./src/main.ts');
module.flushCompileCache();
