import type { Snapshot } from './snapshot.ts';

const NOUNS = { Pipeline: 'pipeline', LibraryStep: 'library step' } as const;

/** What to say of a name that is not served: a definition that is there and broken is not one that nobody wrote. */
export function notLoaded({ problems }: Pick<Snapshot, 'problems'>, kind: keyof typeof NOUNS, name: string): string {
  const broken = problems.some(
    (problem) => problem.kind === kind && problem.name === name && problem.severity === 'error',
  );
  const noun = NOUNS[kind];
  return broken ? `${noun} "${name}" did not load; GET /definitions says why` : `no ${noun} is named "${name}"`;
}
