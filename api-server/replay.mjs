import { needNode } from '@signalbox/crds/process/need-node';

needNode('replay');
const { replay } = await import('./src/cli/replay/replay.ts');
process.exitCode = await replay(process.argv.slice(2), process.env);
