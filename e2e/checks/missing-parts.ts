/** What `npm test` says of the programs that its tests need. */
import type { Part } from './parts.ts';

type Named = Pick<Part, 'name' | 'projects' | 'debian' | 'howToGet'>;

/** Which tests are left out, for want of what, and the commands that bring it; empty where nothing is missing. */
export function missingParts(parts: readonly Named[], isFailure: boolean): string {
  if (parts.length === 0) return '';
  const rows = parts.map(({ name, projects }) => `  ${projects.join(', ')}: ${name} is not installed`);
  const heading = isFailure ? 'MISSING, which CI=true counts as failures:' : 'left out:';
  return [heading, ...rows, 'to run them too:', ...commands(parts).map((command) => `  ${command}`)].join('\n');
}

function commands(parts: readonly Named[]): string[] {
  const packages = parts.flatMap(({ debian = [] }) => debian);
  const install = packages.length > 0 ? [`apt-get install ${packages.join(' ')}`] : [];
  return [...install, ...parts.flatMap(({ howToGet }) => howToGet ?? [])];
}

export function testUsage(parts: readonly Named[]): string {
  const projects = parts.map((part) => `  ${part.projects.join(', ').padEnd(22)} ${part.name}`);
  return `npm test [-- ARGUMENTS OF VITEST]: every test whose real programs are on this machine

  npm test -- --project crds                          one project
  npm test -- api-server/src/store                    one folder
  npm test -- --project gateway -t 'a tool call'      tests by name

Projects that need a program:
${projects.join('\n')}
What is missing is named first and last. With CI=true it is a failure, and up to three files that failed run once more.`;
}
