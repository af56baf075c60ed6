import { MAX_OF_A_KIND } from '../references/references.ts';
import type { Finding } from '../problem.ts';

const kindOf = ({ severity = 'error', reason = 'invalid' }: Finding): string => `${severity} ${reason}`;

/**
 * The first findings of each kind, and how many more there are: a definition within its bounds may have thousands. Shell checks
 * that are not allowed are all kept, because a write is refused only for those in its own text.
 */
export function boundFindings(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= MAX_OF_A_KIND) return findings;
  const counts = new Map<string, number>();
  const kept = findings.filter((finding) => {
    const count = (counts.get(kindOf(finding)) ?? 0) + 1;
    counts.set(kindOf(finding), count);
    return count <= MAX_OF_A_KIND || finding.reason === 'shell_not_allowed';
  });
  const first = new Map(kept.toReversed().map((finding) => [kindOf(finding), finding]));
  const more = [...first].flatMap(([kind, { loc: _, ...finding }]): Finding[] => {
    const rest = finding.reason === 'shell_not_allowed' ? 0 : (counts.get(kind) ?? 0) - MAX_OF_A_KIND;
    return rest > 0 ? [{ ...finding, loc: [], msg: `and ${rest} more problems of this kind` }] : [];
  });
  return [...kept, ...more];
}
