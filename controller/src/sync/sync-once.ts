import type { Applied, ManagedDirectory } from '../files/managed-directory.ts';
import type { CustomObject } from '../objects/custom-object.ts';
import { planFiles } from '../plan/file-plan.ts';
import type { Verdict } from '../plan/plan.ts';

export interface SyncDeps {
  directory: ManagedDirectory;
  /** All objects that are known, or null while a kind has not been listed once. */
  objects(): CustomObject[] | null;
  isGone(object: Pick<CustomObject, 'kind' | 'namespace' | 'uid'>): boolean;
  plan(objects: readonly CustomObject[]): Verdict[];
  report(applied: Applied, verdicts: readonly Verdict[]): void;
}

/** Makes the directory equal to the objects; false where it is too early to say what they are (Design 7). */
export async function syncOnce({ directory, objects, isGone, plan, report }: SyncDeps): Promise<boolean> {
  const known = objects();
  if (known === null) return false;
  const verdicts = plan(known);
  const files = planFiles({ verdicts, owners: directory.owners(), textOf: directory.textOf, isGone });
  report(await directory.apply(files), verdicts);
  return true;
}
