/** Messages of `npm test` about missing programs. */
import type { Part } from './parts.ts';

type Named = Pick<Part, 'name' | 'projects' | 'debian' | 'howToGet'>;

/** The tests that are left out, the missing programs, and the commands that install them; empty where none is missing. */
export function missingParts(parts: readonly Named[], isFailure: boolean): string {
  if (parts.length === 0) return '';
  const rows = parts.map(({ name, projects }) => `  ${projects.join(', ')}: ${name} is not installed`);
  const heading = isFailure ? 'MISSING (a failure with CI=true):' : 'left out:';
  return [heading, ...rows, 'to run them too:', ...commands(parts).map((command) => `  ${command}`)].join('\n');
}

function commands(parts: readonly Named[]): string[] {
  const packages = parts.flatMap(({ debian = [] }) => debian);
  const install = packages.length > 0 ? [`apt-get install ${packages.join(' ')}`] : [];
  return [...install, ...parts.flatMap(({ howToGet }) => howToGet ?? [])];
}

export function testUsage(parts: readonly Named[]): string {
  const projects = parts.map((part) => `  ${part.projects.join(', ').padEnd(22)} ${part.name}`);
  return `npm test [-- ARGUMENTS OF VITEST]: every test whose programs are installed

  npm test -- --project crds                          one project
  npm test -- api-server/src/store                    one folder
  npm test -- --project gateway -t 'a tool call'      tests by name

Projects that need a program:
${projects.join('\n')}
Missing programs are named at the start and at the end. With CI=true they are a failure, and up to three failed files run a second time.`;
}
