import { needNode } from '@signalbox/crds/process/need-node';

needNode('demo');
await import('./demo.ts');
