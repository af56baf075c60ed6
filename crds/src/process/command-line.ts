import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The exit code of a command that was called in a way it does not know. */
export const BAD_USAGE = 2;

/** One line on what is wrong with a command line; without the advice of the library on positional arguments. */
export const usageProblem = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\. To specify a positional argument.*$/s, '');

/** Says on stderr what is wrong, then how the command is called. */
export function refuseUsage(command: string, problem: string, help: string): typeof BAD_USAGE {
  process.stderr.write(`${command}: ${problem.replace(/\s+/g, ' ')}\n\n${help.trimEnd()}\n`);
  return BAD_USAGE;
}

/** The options of a program; a command line that it does not know ends the process. */
export function readOptions<const T extends ParseArgsConfig>(
  command: string,
  help: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    process.exit(refuseUsage(command, usageProblem(error), help));
  }
}

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
