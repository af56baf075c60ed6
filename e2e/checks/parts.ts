/** The real programs that some tests need, how to see whether they are there, and how to get them. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { postgresBinaries } from '../../api-server/src/store/fixtures/postgres-binaries.ts';

export interface Part {
  readonly name: string;
  /** vitest projects that cannot run without it. */
  readonly projects: readonly string[];
  readonly isPresent: () => boolean;
  readonly howToGet: string;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const onPath = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => canRun(join(folder, program)));

const anyOnPath = (...programs: string[]) => programs.some(onPath);

export const PARTS: readonly Part[] = [
  {
    name: 'chromium',
    projects: ['browser'],
    isPresent: () => anyOnPath('chromium', 'chromium-browser', 'google-chrome'),
    howToGet: 'apt-get install chromium',
  },
  {
    name: 'Alertmanager and amtool',
    projects: ['alertmanager'],
    isPresent: () => anyOnPath('prometheus-alertmanager', 'alertmanager') && onPath('amtool'),
    howToGet: 'apt-get install prometheus-alertmanager',
  },
  {
    name: 'PostgreSQL',
    projects: ['postgres'],
    isPresent: () => postgresBinaries() !== null,
    howToGet: 'apt-get install postgresql',
  },
  {
    name: 'a C compiler',
    projects: ['faults'],
    isPresent: () => anyOnPath('cc', 'gcc', 'clang'),
    howToGet: 'apt-get install gcc libc6-dev',
  },
];
