import { z } from 'zod';
import type { AgentVersion } from '../../../analytics/agent-versions.ts';
import type { PromptVersion } from '../../../analytics/prompt-versions.ts';
import { component, NullableText, Time, viewOf } from '../answer.ts';
import { BucketView, bucketView } from './calibration.ts';

const PROMPT = {
  prompt_hash: '9c1be2f04a7d',
  template: 'Alert: {{summary}}. What is the cause?',
  first_seen_at: '2026-10-01T08:00:00.000Z',
  last_seen_at: '2026-11-02T09:14:00.000Z',
  runs_total: 412,
  labelled_n: 48,
  pipelines: ['checkout-errors'],
  diff_from_previous: null,
  calibration: [],
};

/** An edition of a step's prompt (Orchestration 2.9). */
export const PromptVersionView = component(
  'PromptVersion',
  z.strictObject({
    prompt_hash: z.string(),
    template: NullableText,
    first_seen_at: Time,
    last_seen_at: Time,
    runs_total: z.number(),
    labelled_n: z.number(),
    /** Where stored executions used it. */
    pipelines: z.array(z.string()),
    /** A unified diff against the one before in the same pipeline; null for the oldest. */
    diff_from_previous: NullableText,
    calibration: z.array(BucketView),
  }),
  PROMPT,
);
export type PromptVersionView = z.infer<typeof PromptVersionView>;

export const StepVersions = component(
  'StepVersions',
  z.strictObject({ step_name: z.string(), versions: z.array(PromptVersionView) }),
  { step_name: 'investigate', versions: [PROMPT] },
);

const AGENT = {
  agent_version: '51f0aa2be9c1',
  soul_md: 'You look for causes before you name them.\n',
  agent_yaml: 'name: sre-triage\nmodel: anthropic/claude-haiku\n',
  note: null,
  first_seen_at: '2026-10-01T08:00:00.000Z',
  last_seen_at: '2026-11-02T09:14:00.000Z',
  diff_from_previous: null,
  used_by_steps: ['investigate'],
};

/** A version of an agent (Orchestration 2.9). */
export const AgentVersionView = component(
  'AgentVersion',
  z.strictObject({
    agent_version: z.string(),
    soul_md: NullableText,
    agent_yaml: NullableText,
    /** Why there are no texts. */
    note: NullableText,
    first_seen_at: Time,
    last_seen_at: Time,
    diff_from_previous: NullableText,
    used_by_steps: z.array(z.string()),
  }),
  AGENT,
);
export type AgentVersionView = z.infer<typeof AgentVersionView>;

export const AgentVersions = component(
  'AgentVersions',
  z.strictObject({ agent: z.string(), versions: z.array(AgentVersionView) }),
  { agent: 'gateway:sre-triage', versions: [AGENT] },
);

export const promptVersionView = (version: PromptVersion): PromptVersionView =>
  viewOf(PromptVersionView, version, { calibration: version.calibration.map(bucketView) });

export const agentVersionView = (version: AgentVersion): AgentVersionView => viewOf(AgentVersionView, version);
