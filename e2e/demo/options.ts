import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { usageProblem } from '@signalbox/crds/process/command-line';
import { ROOT } from '../support/start-service.ts';

export const HELP = `npm run demo [-- OPTIONS]

Starts the gateway and the api-server on this machine, sends an alert as Alertmanager would, and shows its run.
The services stay up until Ctrl-C.

  --once         stop after the runs; exit 0 only if the first one completed
  --live         use a real model, with the key in ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY;
                 this costs money. Without it the built-in demo provider answers from a script: no language model
  --model NAME   with --live: the model to ask
  --data DIR     folder of the database and the tokens (./data)
  --help         print this
`;

export interface DemoOptions {
  readonly once: boolean;
  readonly live: boolean;
  readonly model: string | null;
  readonly dataDir: string;
}

export type Command = { kind: 'run'; options: DemoOptions } | { kind: 'help' } | { kind: 'error'; message: string };

export function readCommand(argv: readonly string[]): Command {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        once: { type: 'boolean', default: false },
        live: { type: 'boolean', default: false },
        model: { type: 'string' },
        data: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { kind: 'help' };
    if (values.model && !values.live) return { kind: 'error', message: '--model needs --live' };
    const dataDir = values.data ? resolve(values.data) : resolve(ROOT, 'data');
    return { kind: 'run', options: { once: values.once, live: values.live, model: values.model ?? null, dataDir } };
  } catch (error) {
    return { kind: 'error', message: usageProblem(error) };
  }
}
