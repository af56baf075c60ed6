/** The programs that some tests need, how to detect them, and how to install them. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { helmProgram } from '../charts/helm.ts';
import { postgresBinaries } from '../../api-server/src/store/fixtures/postgres-binaries.ts';
import { controlPlaneAssets } from '../control-plane/assets.ts';

export interface Part {
  readonly name: string;
  /** vitest projects that cannot run without it. */
  readonly projects: readonly string[];
  readonly isPresent: () => boolean;
  /** Debian packages that contain it. */
  readonly debian?: readonly string[];
  /** What to do where Debian has no package. */
  readonly howToGet?: string;
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
    debian: ['chromium'],
  },
  {
    name: 'Alertmanager and amtool',
    projects: ['alertmanager'],
    isPresent: () => anyOnPath('prometheus-alertmanager', 'alertmanager') && onPath('amtool'),
    debian: ['prometheus-alertmanager'],
  },
  {
    name: 'tini',
    projects: ['container'],
    isPresent: () => onPath('tini') && onPath('unshare'),
    debian: ['tini', 'util-linux'],
  },
  {
    name: 'PostgreSQL',
    projects: ['postgres'],
    isPresent: () => postgresBinaries() !== null,
    debian: ['postgresql'],
  },
  {
    name: 'a Kubernetes control plane',
    projects: ['control-plane', 'charts'],
    isPresent: () => controlPlaneAssets() !== null,
    howToGet: 'export KUBEBUILDER_ASSETS=$(setup-envtest use -p path 1.34.x)',
  },
  {
    name: 'Helm',
    projects: ['charts'],
    isPresent: () => helmProgram() !== null,
    howToGet: 'install Helm 3, see https://helm.sh/docs/intro/install/',
  },
  {
    name: 'a C compiler',
    projects: ['faults'],
    isPresent: () => anyOnPath('cc', 'gcc', 'clang'),
    debian: ['gcc', 'libc6-dev'],
  },
];
