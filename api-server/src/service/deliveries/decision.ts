import type { IntakeRequest } from '../../triggers/intake-deps.ts';
import type { Verdict } from '../../triggers/model.ts';

type Refusal = Extract<Verdict, { status: 'no_pipeline' | 'suspended' | 'skipped_testing' }>;

/** `request` of a refusal is the run that was refused; null where no pipeline was found. */
export type Decision =
  | { go: true; request: IntakeRequest }
  | { go: false; verdict: Refusal; request: IntakeRequest | null };
