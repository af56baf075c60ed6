/** What the command line asks for. `error` is one line for stderr and exit code 2. */
export type Command =
  | { kind: 'run'; configPath: string }
  | { kind: 'help' }
  | { kind: 'version' }
  | { kind: 'error'; message: string };

export const HELP = `signalbox gateway: agent registry, model routing, tool servers and tool policy

  gateway --config FILE    run in the foreground
  gateway --help           this text
  gateway --version        the version

SIGTERM drains and stops, SIGHUP reloads the agents from disk.
`;

/** Reads the arguments after the script name. */
export function readCommand(argv: readonly string[]): Command {
  if (argv.includes('--help') || argv.includes('-h')) return { kind: 'help' };
  if (argv.includes('--version')) return { kind: 'version' };
  const [flag, value, ...rest] = argv.flatMap((word) =>
    word.startsWith('--config=') ? ['--config', word.slice('--config='.length)] : [word],
  );
  if (flag === undefined) return { kind: 'error', message: 'missing --config FILE (see --help)' };
  if (flag !== '--config') return { kind: 'error', message: `unknown argument ${flag} (see --help)` };
  if (!value) return { kind: 'error', message: '--config needs a file' };
  if (rest.length > 0) return { kind: 'error', message: `unknown argument ${rest[0]} (see --help)` };
  return { kind: 'run', configPath: value };
}
