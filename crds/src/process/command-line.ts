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
