import module from 'node:module';
import { needNode } from '@signalbox/crds/process/need-node';

needNode('controller');
// Compiled and type-stripped code is kept between starts; a killed process keeps none, so it is written once a role listens.
module.enableCompileCache();
await import('./src/main.ts');
module.flushCompileCache();
