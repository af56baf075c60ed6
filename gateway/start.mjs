import { keepCompiled } from '@signalbox/crds/process/keep-compiled';
import { needNode } from '@signalbox/crds/process/need-node';

needNode('gateway');
const flushCompiled = keepCompiled();
await import('./src/main.ts');
flushCompiled();
