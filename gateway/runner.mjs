import module from 'node:module';
import { needNode } from '@signalbox/crds/process/need-node';

needNode('agent-runner', 'gateway');
// Compiled and type-stripped code is kept between starts; a killed process keeps none, so it is written once the runner listens.
module.enableCompileCache();
const { main } = await import('./src/runner/main.ts');
const exitCode = await main(process.argv.slice(2), process.env);
if (exitCode !== null) process.exitCode = exitCode;
module.flushCompileCache();
