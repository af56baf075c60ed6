import { needNode } from '@signalbox/crds/process/need-node';

needNode('backup');
const { backup } = await import('./src/cli/backup.ts');
process.exitCode = await backup(process.argv.slice(2), process.env);
