import { didYouMean } from '@signalbox/crds';
import type { Snapshot } from './snapshot.ts';

const NOUNS = { Pipeline: 'pipeline', LibraryStep: 'library step' } as const;

/**
 * The message for a name that is not loaded: distinguishes a definition with errors from one that does not exist, and names the
 * one of `names` that was probably meant.
 */
export function notLoaded(
  { problems }: Pick<Snapshot, 'problems'>,
  { kind, name, names = [] }: { kind: keyof typeof NOUNS; name: string; names?: Iterable<string> },
): string {
  const broken = problems.some(
    (problem) => problem.kind === kind && problem.name === name && problem.severity === 'error',
  );
  const noun = NOUNS[kind];
  return broken
    ? `${noun} "${name}" did not load; GET /definitions says why`
    : `no ${noun} is named "${name}"${didYouMean(name, names)}`;
}
