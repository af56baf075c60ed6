import { readOptions } from '@signalbox/crds/process/command-line';
import { scratchDirectory } from '../support/scratch.ts';
import { liveProviders } from './live-providers.ts';
import { CHECKS, checkLive } from './live-run.ts';

const HELP = `node e2e/gateway/live.ts [--only PROVIDER]

Sends a few short questions to every provider whose key is in the environment, through a gateway started for it:
${CHECKS.map(({ what }) => `  - ${what}`).join('\n')}
Each costs a fraction of a cent. Exit code 1 when an answer is wrong; 0 without any key.
`;

const { values } = readOptions('live', HELP, {
  options: { only: { type: 'string' }, help: { type: 'boolean', default: false } },
});
const { present, absent } = liveProviders(process.env);
const chosen = present.filter(({ name }) => values.only === undefined || name === values.only);
let failed = 0;
if (values.help) console.log(HELP);
else if (chosen.length === 0) {
  console.log(`${HELP}\nNothing was sent: no provider has a key.`);
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
