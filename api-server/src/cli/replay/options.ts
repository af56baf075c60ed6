import { readFileSync } from 'node:fs';
import { usageProblem } from '@signalbox/crds/process/command-line';
import { parseArgs } from 'node:util';
import { type Candidate, readCandidate } from './candidate.ts';
import type { Limits } from './verdict.ts';

export const USAGE = `usage: npm run replay -- --golden-set NAME --candidate FILE --step NAME [options]
       npm run replay -- --step NAME [--k N] [options]

Asks recorded cases again with a changed step, and compares the answers with the marked ones. For a Git repository's CI.

  --url URL            the api-server (SIGNALBOX_URL)
  --token-file FILE    holds a token with the role operator (SIGNALBOX_TOKEN)
  --golden-set NAME    replays every member of this set; without it the newest marked executions in production
  --step NAME          the step
  --k N                samples without a golden set, 1 to 100 (20)
  --candidate FILE     a pipeline or library step of the working tree; its agent, model and prompt are tried
  --library DIR        folder of the library steps that it uses (../steps beside the file's folder)
  --model NAME         another model
  --agent NAME         another agent
  --prompt FILE        another prompt template
  --max-regressed N    samples that may get worse (0)
  --min-graded N       samples that must be graded (1)
  --timeout SECONDS    waits so long for the replay (1800)
  --json               prints the report as JSON
  --help               prints this

Exit code: 0 passed, 1 a regression, 2 the command or the connection was wrong. Progress goes to stderr.
`;

export interface Options {
  url: string;
  token: string;
  goldenSet: string | null;
  step: string | null;
  k: number;
  candidate: Candidate;
  limits: Limits;
  timeoutMs: number;
  json: boolean;
}

const FLAGS = {
  url: { type: 'string' },
  'token-file': { type: 'string' },
  'golden-set': { type: 'string' },
  step: { type: 'string' },
  k: { type: 'string', default: '20' },
  candidate: { type: 'string' },
  library: { type: 'string' },
  model: { type: 'string' },
  agent: { type: 'string' },
  prompt: { type: 'string' },
  'max-regressed': { type: 'string', default: '0' },
  'min-graded': { type: 'string', default: '1' },
  timeout: { type: 'string', default: '1800' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof FLAGS }>>['values'];

export type Read = { kind: 'run'; options: Options } | { kind: 'help' } | { kind: 'error'; message: string };

export function readOptions(args: string[], env: Readonly<Record<string, string | undefined>>): Read {
  try {
    const { values } = parseArgs({ args, options: FLAGS });
    if (values.help) return { kind: 'help' };
    return { kind: 'run', options: optionsOf(values, env) };
  } catch (error) {
    return { kind: 'error', message: usageProblem(error) };
  }
}

function optionsOf(values: Values, env: Readonly<Record<string, string | undefined>>): Options {
  const file = values['token-file'];
  const goldenSet = values['golden-set'] ?? null;
  const step = values.step ?? null;
  if (step === null && goldenSet === null) throw new Error('--golden-set NAME or --step NAME is required');
  return {
    url: needed(values.url ?? env['SIGNALBOX_URL'], '--url URL or SIGNALBOX_URL'),
    token: needed(
      file ? readFileSync(file, 'utf8').trim() : env['SIGNALBOX_TOKEN'],
      '--token-file FILE or SIGNALBOX_TOKEN',
    ),
    goldenSet,
    step,
    k: whole('k', values.k, [1, 100]),
    candidate: candidateOf(values),
    limits: {
      maxRegressed: whole('max-regressed', values['max-regressed']),
      minGraded: whole('min-graded', values['min-graded']),
    },
    timeoutMs: whole('timeout', values.timeout, [1, 86_400]) * 1000,
    json: values.json,
  };
}

function needed(text: string | undefined, what: string): string {
  if (!text) throw new Error(`${what} is required`);
  return text;
}

function whole(name: string, text: string, [min, max]: readonly [number, number] = [0, 100_000]): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`--${name} must be a whole number from ${min} to ${max}`);
}

/** What single options say wins over the file. */
function candidateOf({ candidate: file, step, library, model, agent, prompt }: Values): Candidate {
  if (file !== undefined && step === undefined) throw new Error('--candidate needs --step NAME');
  return {
    ...(file !== undefined && step !== undefined ? readCandidate(file, step, library) : {}),
    ...(model === undefined ? {} : { model }),
    ...(agent === undefined ? {} : { agent }),
    ...(prompt === undefined ? {} : { prompt_template: readFileSync(prompt, 'utf8') }),
  };
}
