import { z } from 'zod';
import { Labels, LIMITS, OnMissingValue, RunSeconds, Severity, Tags, Text } from './fields.ts';
import { DefinitionName, templateName } from '../names.ts';
import { Notifications } from './notification.ts';
import { Readiness } from './readiness.ts';
import { isParallel, Step } from './step.ts';
import { Trigger } from './trigger.ts';

export const Stage = z.enum(['testing', 'production']);
export type Stage = z.infer<typeof Stage>;

/** Starts runs without an alert (Orchestration 5 rule 5: the run's team is this block's). */
export const Schedule = z.strictObject({
  cron: z.string().min(1).max(200).describe('cron expression with five fields'),
  timezone: z.string().min(1).max(64).default('Etc/UTC').describe('IANA time zone'),
  summary: Text.optional().describe('summary of its runs'),
  severity: Severity.optional().describe('severity of its runs'),
  labels: Labels.default({}).describe('labels of its runs'),
  team: z.string().min(1).max(64).optional().describe('team of its runs'),
});
export type Schedule = z.infer<typeof Schedule>;

export const Concurrency = z.strictObject({
  limit: z.number().int().min(1).max(1000).describe('runs of this pipeline, or of one key, at the same time'),
  key: z
    .string()
    .max(LIMITS.keyChars)
    .optional()
    .describe('Handlebars template of up to 1,024 characters; runs with the same result share the limit'),
  on_limit: z
    .enum(['queue', 'reject', 'cancel_running'])
    .default('queue')
    .describe('an additional run waits, is refused, or cancels the oldest running one'),
});
export type Concurrency = z.infer<typeof Concurrency>;

/** Limit on what one run may spend; a run over it escalates. */
export const Budget = z
  .strictObject({
    max_tokens: z
      .number()
      .int()
      .positive()
      .optional()
      .describe('input and output tokens of all calls together, those of sub-runs too'),
    max_cost: z.number().positive().optional().describe("cost limit in the service's currency"),
  })
  .refine((budget) => budget.max_tokens !== undefined || budget.max_cost !== undefined, 'needs max_tokens or max_cost');
export type Budget = z.infer<typeof Budget>;

export const Durable = z.strictObject({
  on_interrupted: z
    .enum(['rerun', 'escalate'])
    .default('rerun')
    .describe('what happens to the step that was running when the service stopped'),
  max_resume_age_seconds: RunSeconds.optional().describe('older runs escalate instead of resuming'),
});
export type Durable = z.infer<typeof Durable>;

/** While nobody has acknowledged a run that ended escalated, aborted or failed. */
export const Attention = z.strictObject({
  remind_after_seconds: z
    .number()
    .int()
    .min(60)
    .max(604_800)
    .describe(
      'seconds until its `escalate` messages are sent once more, and again, until somebody acknowledges the run',
    ),
});
export type Attention = z.infer<typeof Attention>;

/** A pipeline after `use:` was expanded, defaults applied. */
export const Pipeline = z
  .strictObject({
    name: DefinitionName.describe('name of the pipeline'),
    description: Text.default('').describe('free text for people'),
    version: z
      .union([z.number().int(), z.string().max(64)])
      .optional()
      .describe('shown in lists and on pages'),
    stage: Stage.default('testing').describe(
      'in testing, webhooks start it only with allow_testing=true, and its runs are not part of metrics and calibration',
    ),
    tags: Tags.default([]).describe('tags for people'),
    suspend: z.boolean().default(false).describe('true: no run starts'),
    on_missing_value: OnMissingValue.optional(),
    trigger: Trigger.optional().describe('which alerts start it'),
    schedule: Schedule.optional().describe('starts runs at fixed times'),
    vars: z
      .record(z.string().min(1).max(128), z.unknown())
      .default({})
      .describe('constants for templates and expressions'),
    concurrency: Concurrency.optional().describe('limit on runs at the same time'),
    budget: Budget.optional().describe('limit on what one run may spend; a run over it escalates'),
    durable: Durable.default({ on_interrupted: 'rerun' }).describe('behaviour of its runs at a restart of the service'),
    timeout_seconds: RunSeconds.optional().describe(
      'seconds for the whole run, from its trigger; without it eight days',
    ),
    readiness: Readiness.optional().describe('criteria for leaving testing'),
    notifications: Notifications.optional().describe('messages about its runs, by event'),
    attention: Attention.optional().describe('reminders of runs that nobody has acknowledged'),
    steps: z.array(Step).min(1).max(LIMITS.entries),
  })
  .superRefine((pipeline, context) => {
    for (const { name, loc, first } of repeatedNames(pipeline.steps))
      context.addIssue({
        code: 'custom',
        path: ['steps', ...loc, 'name'],
        message:
          name === first
            ? `"${name}" is used twice`
            : `"${name}" and "${first}" are the same when "-" is replaced by "_"`,
      });
  });
export type Pipeline = z.infer<typeof Pipeline>;

interface NamedStep {
  name: string;
  loc: (string | number)[];
}

/** Every named step of a pipeline with its place: entries, then the branches of each parallel group. */
export function namedSteps(steps: readonly Step[]): NamedStep[] {
  return steps.flatMap((step, index) => {
    const own = { name: step.name, loc: [index] };
    if (!isParallel(step)) return [own];
    return [
      own,
      ...step.parallel.steps.map((branch, at) => ({ name: branch.name, loc: [index, 'parallel', 'steps', at] })),
    ];
  });
}

function repeatedNames(steps: readonly Step[]): (NamedStep & { first: string })[] {
  const seen = new Map<string, string>();
  return namedSteps(steps).flatMap((step) => {
    const key = templateName(step.name);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, step.name);
    return first === undefined ? [] : [{ ...step, first }];
  });
}
