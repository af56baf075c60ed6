import { MAX_OF_A_KIND } from '../references/references.ts';
import type { Finding } from '../problem.ts';
import { valueAt } from './issues.ts';

/**
 * The first findings of each kind, and how many more there are: a definition within its bounds may have thousands. Shell checks
 * that are not allowed are of two kinds, because a write is refused only for those in its own text, `body`.
 */
export function boundFindings(findings: readonly Finding[], body: unknown): readonly Finding[] {
  if (findings.length <= MAX_OF_A_KIND) return findings;
  const kindOf = ({ loc, severity = 'error', reason = 'invalid' }: Finding): string =>
    `${severity} ${reason} ${reason === 'shell_not_allowed' && valueAt(body, loc) === undefined}`;
  const kinds = Map.groupBy(findings, kindOf);
  const kept = new Set([...kinds.values()].flatMap((ofKind) => ofKind.slice(0, MAX_OF_A_KIND)));
  const more = [...kinds.values()].flatMap(([first, ...others]): Finding[] => {
    const rest = others.length + 1 - MAX_OF_A_KIND;
    return first && rest > 0 ? [{ ...first, loc: [], msg: `and ${rest} more problems of this kind` }] : [];
  });
  return [...findings.filter((finding) => kept.has(finding)), ...more];
}
