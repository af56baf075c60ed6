import { keepCompiled } from '@signalbox/crds/process/keep-compiled';
import { needNode } from '@signalbox/crds/process/need-node';

needNode('api-server');
const flushCompiled = keepCompiled();
const { main } = await import('./src/main.ts');
await main(process.argv.slice(2), process.env);
flushCompiled();
