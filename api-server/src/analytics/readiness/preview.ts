import type { ReadinessReport } from './readiness.ts';
import type { Snippet } from './snippet.ts';

/** The verdict with other criteria; nothing is written (Orchestration 4.4). */
export type Preview =
  | { kind: 'missing'; steps: string[] }
  | {
      kind: 'evaluated';
      report: ReadinessReport;
      /** Steps that the criteria apply to. */
      appliedTo: string[];
      snippet: Snippet;
      evidenceGatheredAt: number;
      cacheHit: boolean;
    };
