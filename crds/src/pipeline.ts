import { z } from 'zod';
import { Labels, LIMITS, RunSeconds, Severity, Tags, TemplateText, Text } from './fields.ts';
import { DefinitionName, templateName } from './names.ts';
import { Notifications } from './notification.ts';
import { Readiness } from './readiness.ts';
import { isParallel, Step } from './step.ts';
import { Trigger } from './trigger.ts';

export const Stage = z.enum(['testing', 'production']);
export type Stage = z.infer<typeof Stage>;

/** Starts runs without an alert (Orchestration 5 rule 5: the run's team is this block's). */
export const Schedule = z.strictObject({
  cron: z.string().min(1).max(200).describe('five fields'),
  timezone: z.string().min(1).max(64).default('Etc/UTC').describe('IANA name'),
  summary: Text.optional().describe('what its runs say of themselves'),
  severity: Severity.optional().describe('of its runs'),
  labels: Labels.default({}).describe('of its runs'),
  team: z.string().min(1).max(64).optional().describe('whom its runs are attributed to'),
});
export type Schedule = z.infer<typeof Schedule>;

export const Concurrency = z.strictObject({
  limit: z.number().int().min(1).max(1000).describe('runs of this pipeline, or of one key, at a time'),
  key: TemplateText.optional().describe('Handlebars text; runs with the same text share the limit'),
  on_limit: z
    .enum(['queue', 'reject', 'cancel_running'])
    .default('queue')
    .describe('a further run waits, is refused, or ends the one that has run longest'),
});
export type Concurrency = z.infer<typeof Concurrency>;

/** What one run may spend; the run escalates when it is gone. */
export const Budget = z
  .strictObject({
    max_tokens: z.number().int().positive().optional().describe('input and output of all its calls together'),
    max_cost: z.number().positive().optional().describe("in the service's currency"),
  })
  .refine((budget) => budget.max_tokens !== undefined || budget.max_cost !== undefined, 'needs max_tokens or max_cost');
export type Budget = z.infer<typeof Budget>;

export const Durable = z.strictObject({
  on_interrupted: z
    .enum(['rerun', 'escalate'])
    .default('rerun')
    .describe('what becomes of the step that ran when the service stopped'),
  max_resume_age_seconds: RunSeconds.optional().describe('an older run escalates instead of going on'),
});
export type Durable = z.infer<typeof Durable>;

/** A pipeline after `use:` was expanded, defaults applied (Design 3). */
export const Pipeline = z
  .strictObject({
    name: DefinitionName.describe('how triggers, other pipelines and people refer to it'),
    description: Text.default('').describe('for people'),
    version: z
      .union([z.number().int(), z.string().max(64)])
      .optional()
      .describe('shown as written'),
    stage: Stage.default('testing').describe(
      'testing: webhooks must ask for it, and it is left out of metrics and calibration',
    ),
    tags: Tags.default([]).describe('for people'),
    suspend: z.boolean().default(false).describe('true: nothing starts a run'),
    trigger: Trigger.optional().describe('which alerts start it'),
    schedule: Schedule.optional().describe('starts it by the clock'),
    vars: z
      .record(z.string().min(1).max(128), z.unknown())
      .default({})
      .describe('constants for templates and expressions'),
    concurrency: Concurrency.optional().describe('how many of its runs may run at a time'),
    budget: Budget.optional().describe('what one run may spend; then it escalates'),
    durable: Durable.default({ on_interrupted: 'rerun' }).describe('what a restart of the service means for its runs'),
    timeout_seconds: RunSeconds.optional().describe('for the whole run'),
    readiness: Readiness.optional().describe('evidence needed to leave testing'),
    notifications: Notifications.optional().describe('who is told of what its runs come to'),
    steps: z.array(Step).min(1).max(LIMITS.entries),
  })
  .superRefine((pipeline, context) => {
    for (const { name, loc, first } of repeatedNames(pipeline.steps))
      context.addIssue({
        code: 'custom',
        path: ['steps', ...loc, 'name'],
        message:
          name === first ? `"${name}" is used twice` : `"${name}" and "${first}" are the same once "-" becomes "_"`,
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
