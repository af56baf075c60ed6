import module from 'node:module';
import { needNode } from '@signalbox/crds/process/need-node';

needNode('api-server');
// Compiled and type-stripped code is kept between starts; a killed process keeps none, so it is written once the service listens.
module.enableCompileCache();
const { main } = await import('./src/main.ts');
await main(process.argv.slice(2), process.env);
module.flushCompileCache();
