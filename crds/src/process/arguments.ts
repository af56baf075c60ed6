import { parseArgs } from 'node:util';
import { usageProblem } from './command-line.ts';

/** What the command line of a service asks for: a text to print, or to run with a configuration file. */
export type Arguments =
  | { kind: 'print'; text: string }
  | { kind: 'run'; config: string }
  | { kind: 'error'; message: string };

export function readArguments(
  argv: readonly string[],
  { usage, version }: { usage: string; version: string },
): Arguments {
  const options = {
    config: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
  } as const;
  try {
    const { values } = parseArgs({ args: [...argv], options });
    if (values.help) return { kind: 'print', text: usage };
    if (values.version) return { kind: 'print', text: `${version}\n` };
    if (!values.config) return { kind: 'error', message: '--config FILE is required' };
    return { kind: 'run', config: values.config };
  } catch (error) {
    return { kind: 'error', message: usageProblem(error) };
  }
}
