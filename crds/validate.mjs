import { needNode } from '@signalbox/crds/process/need-node';

needNode('validate');
await import('./src/cli/validate.ts');
