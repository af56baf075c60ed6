import { readOptions } from '@signalbox/crds/process/command-line';
import { scratchDirectory } from '../support/scratch.ts';
import { memorySentence } from './memory-trend.ts';
import { problemsOf, soak } from './soak-run.ts';

const HELP = 'node e2e/gateway/soak.ts [--minutes 60]: exit code 1 unless the gateway stayed healthy';

const { values } = readOptions('soak', HELP, { options: { minutes: { type: 'string', default: '3' } } });
using scratch = scratchDirectory('signalbox-soak-');
const result = await soak(scratch.path, Number(values.minutes) * 60, (text) => console.log(text));
const problems = problemsOf(result);
console.log(JSON.stringify(result, null, 2));
console.log(memorySentence(result.memory));
console.log(problems.length === 0 ? 'the gateway stayed healthy' : problems.join('\n'));
process.exitCode = problems.length === 0 ? 0 : 1;
