import { parseArgs } from 'node:util';
import { scratchDirectory } from '../support/scratch.ts';
import { liveProviders } from './live-providers.ts';
import { CHECKS, checkLive } from './live-run.ts';

const HELP = `node e2e/gateway/live.ts [--only PROVIDER]

Asks every provider whose key is in the environment a few short questions through a gateway of its own:
${CHECKS.map(({ what }) => `  - ${what}`).join('\n')}
It costs a fraction of a cent each. Exit code 1 where an answer is not what it should be; 0 without any key.
`;

const { values } = parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean', default: false } } });
const { present, absent } = liveProviders(process.env);
const chosen = present.filter(({ name }) => values.only === undefined || name === values.only);
let failed = 0;
if (values.help) console.log(HELP);
else if (chosen.length === 0) {
  console.log(`${HELP}\nNothing was asked: no provider can be.`);
  for (const line of absent) console.log(`  ${line}`);
} else {
  using scratch = scratchDirectory('signalbox-live-');
  for (const line of absent) console.log(`left out: ${line}`);
  await checkLive(scratch.path, chosen, ({ provider, what, problem, seconds, usage }) => {
    if (problem !== null) failed += 1;
    const tokens = usage
      ? `, ${usage.input_tokens} tokens in (${usage.cached_input_tokens} cached), ${usage.output_tokens} out`
      : '';
    console.log(`${problem === null ? 'ok    ' : 'FAILED'} ${provider}: ${what}, ${seconds.toFixed(1)} s${tokens}`);
    if (problem !== null) console.log(`       ${problem}`);
  });
}
process.exitCode = failed > 0 ? 1 : 0;
