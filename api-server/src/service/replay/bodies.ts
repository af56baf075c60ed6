import { DefinitionName, LIMITS } from '@signalbox/crds';
import { z } from 'zod';
import { type Candidate, REPLAY_MODES } from '../../runs/state/replay.ts';
import { component } from '../views/answer.ts';

export const MAX_K = 100;
const DEFAULT_K = 20;

const Name = z.string().min(1).max(200).nullable();

export const BucketBody = z
  .strictObject({ agent: Name, model: Name, provider: Name, prompt_hash: Name, agent_version: Name })
  .meta({ id: 'ReplayBucket' });

/** What the candidate changes; a key that is absent or null stays as it was recorded. */
export const CandidateBody = z
  .strictObject({
    model: z.string().min(1).max(200).nullish(),
    agent: DefinitionName.nullish(),
    prompt_template: z.string().min(1).max(LIMITS.templateChars).nullish(),
  })
  .meta({ id: 'ReplayCandidate' });
export type CandidateBody = z.output<typeof CandidateBody>;

const Samples = z.int().min(1).max(MAX_K).default(DEFAULT_K);

/** A launch of a single step (Orchestration 2.10). */
export const ReplayLaunch = component(
  'ReplayLaunch',
  z.strictObject({
    bucket: z.union([z.literal('current'), BucketBody], 'must be "current" or a bucket'),
    candidate: CandidateBody,
    mode: z.enum(REPLAY_MODES),
    k: Samples,
  }),
  { bucket: 'current', candidate: { model: 'claude-sonnet' }, mode: 'rendered', k: 20 },
);
export type ReplayLaunch = z.output<typeof ReplayLaunch>;

/** A launch of a contiguous range of steps (Orchestration 4.6); its mode is always `rerender`. */
export const ChainLaunch = component(
  'ReplayChainLaunch',
  z.strictObject({
    from_step: DefinitionName,
    to_step: DefinitionName,
    candidate: z.record(z.string().max(64), CandidateBody),
    mode: z.literal('rerender', 'must be rerender').default('rerender'),
    k: Samples,
  }),
  { from_step: 'investigate', to_step: 'plan', candidate: { investigate: { model: 'claude-sonnet' } }, k: 20 },
);
export type ChainLaunch = z.output<typeof ChainLaunch>;

export const candidateOf = ({ model, agent, prompt_template }: CandidateBody): Candidate => ({
  ...(model == null ? {} : { model }),
  ...(agent == null ? {} : { agent }),
  ...(prompt_template == null ? {} : { promptTemplate: prompt_template }),
});
