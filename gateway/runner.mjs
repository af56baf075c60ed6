import { keepCompiled } from '@signalbox/crds/process/keep-compiled';
import { needNode } from '@signalbox/crds/process/need-node';

needNode('agent-runner', 'gateway');
const flushCompiled = keepCompiled();
const { main } = await import('./src/runner/main.ts');
const exitCode = await main(process.argv.slice(2), process.env);
if (exitCode !== null) process.exitCode = exitCode;
flushCompiled();
