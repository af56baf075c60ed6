import type { ClosestPipeline } from './delivery-record.ts';
import type { RuleOutcome } from '@signalbox/crds';
import type { FirstPrompt } from './first-prompt.ts';
import type { Stage, TriggerContext } from '../runs/state/model.ts';

/** A delivery as the route hands it over; `body` is parsed JSON within the size and depth bounds. */
export interface Delivery {
  source: string | null;
  body: unknown;
  strategy: string | null;
  allowTesting: boolean;
  dryRun: boolean;
  /** Set by a dry run that also asks for the first prompt. */
  withPrompt?: true;
  /** Team of the webhook token; null for unattributed tokens and manual runs. */
  team: string | null;
  /** The token that sent it, for the list of deliveries; absent where it is not kept there, as for a start by hand. */
  tokenName?: string;
  /** The token that starts it by hand. */
  startedBy?: string;
  /** Set for manual runs: the pipeline is forced, and an unknown one is not_found instead of no_pipeline. */
  forcedPipeline?: string;
}

interface Named {
  source: string;
  pipeline: string;
  severity: string | null;
  summary: string | null;
}

/** What became of one context. Every verdict but `accepted` and `queued` leaves the store unchanged. */
export type Verdict =
  | (Named & { status: 'accepted'; runId: string })
  | (Named & { status: 'queued'; runId: string; position: number })
  | (Named & { status: 'deduplicated'; runId: string; reason: string })
  | { status: 'skipped_testing'; pipeline: string; reason: string }
  | { status: 'suspended'; pipeline: string; reason: string }
  | { status: 'at_capacity'; message: string; activeRuns: number; maxConcurrentRuns: number; retryAfterSeconds: number }
  | { status: 'no_pipeline'; message: string }
  | { status: 'unavailable'; message: string };

/** A run was stored. */
export type Started = Extract<Verdict, { status: 'accepted' | 'queued' }>;

export const isStarted = (verdict: Verdict): verdict is Started =>
  verdict.status === 'accepted' || verdict.status === 'queued';

/** The result of a dry run for one context. */
export interface Preview {
  status: 'dry_run';
  pipeline: string | null;
  stage: Stage | null;
  fingerprint: string | null;
  would: Verdict['status'];
  /** Why no run would start; null where one would, or where `would` says all. */
  reason: string | null;
  /** Whether the window or an active run would suppress it, even where it would be refused for another reason first. */
  dedup: { duplicate: boolean; runId: string | null };
  context: Omit<TriggerContext, 'raw'>;
  /** Where no pipeline was found. */
  closest?: ClosestPipeline[];
  /** Undefined unless asked for; null where no step has a prompt or no pipeline was found. */
  prompt?: FirstPrompt | null;
  /** With the prompt: each rule of `trigger.match` compared with the context; null for a pipeline without `match`. */
  rules?: RuleOutcome[] | null;
}

/** The answer to a delivery: one verdict, several for `strategy=per_alert`, previews, or a refusal. */
export type Receipt =
  | { kind: 'verdict'; verdict: Verdict }
  | { kind: 'verdicts'; verdicts: Verdict[] }
  | { kind: 'previews'; previews: Preview[]; leftOut: number }
  | { kind: 'invalid'; message: string; errors?: { loc: (string | number)[]; msg: string }[] }
  | { kind: 'unknown_pipeline'; message: string };
