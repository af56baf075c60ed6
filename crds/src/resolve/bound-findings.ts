import { MOST_PROBLEMS } from '../references/references.ts';
import type { Finding } from '../problem.ts';
import { valueAt } from './issues.ts';

/**
 * The first errors and warnings, and how many more there are: a definition within its bounds may have thousands. What decides comes
 * before others: a step that is missing, and a shell check that is not allowed in its own text, `body`, as only that refuses a write.
 */
export function boundFindings(findings: readonly Finding[], body: unknown): readonly Finding[] {
  if (findings.length <= MOST_PROBLEMS) return findings;
  const lists = [...Map.groupBy(findings, ({ severity = 'error' }) => severity)].map(([severity, all]) => {
    const [first = [], others = []] = [true, false].map((decides) =>
      all.filter((finding) => isDeciding(finding, body) === decides),
    );
    return { severity, kept: [...first, ...others].slice(0, MOST_PROBLEMS), more: all.length - MOST_PROBLEMS };
  });
  const kept = new Set(lists.flatMap((list) => list.kept));
  const more = lists.flatMap(({ severity, more: count }): Finding[] =>
    count > 0 ? [{ severity, loc: [], msg: `and ${count} more ${severity}s`, reason: 'invalid' }] : [],
  );
  return [...findings.filter((finding) => kept.has(finding)), ...more];
}

export const isDeciding = ({ reason, loc }: Finding, body: unknown): boolean =>
  reason === 'missing_step' || (reason === 'shell_not_allowed' && valueAt(body, loc) !== undefined);
