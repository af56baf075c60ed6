import type { Check, FailureWebhook, OnFailure, Verifier } from '../kinds/evidence.ts';
import type { Notifications } from '../kinds/notification.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import type { Loc } from '../problem.ts';
import {
  isFanOut,
  isParallel,
  type AgentStep,
  type HumanStep,
  type ItemStep,
  type PipelineStep,
  type Step,
  type WebhookStep,
} from '../kinds/step.ts';

/** The language of a string in a definition; `template_env` also expands `${ENV}` names before rendering. */
export type Language = 'cel' | 'template' | 'template_env' | 'env' | 'json_schema' | 'cron' | 'timezone' | 'shell';

export interface Place {
  language: Language;
  value: unknown;
  loc: Loc;
}

export function isExpression(language: Language): language is 'cel' {
  return language === 'cel';
}

/** Every template, expression and schema in a pipeline, with its location. */
export function placesOf(pipeline: Pipeline): Place[] {
  return [
    ...optional('cron', pipeline.schedule?.cron, ['schedule', 'cron']),
    ...optional('timezone', pipeline.schedule?.timezone, ['schedule', 'timezone']),
    ...optional('template', pipeline.concurrency?.key, ['concurrency', 'key']),
    ...notifications(pipeline.notifications, ['notifications']),
    ...pipeline.steps.flatMap((step, index) => entry(step, ['steps', index])),
  ];
}

function entry(step: Step, loc: Loc): Place[] {
  if (isParallel(step))
    return [
      ...common(step, loc),
      ...step.parallel.steps.flatMap((branch, index) => executorPlaces(branch, [...loc, 'parallel', 'steps', index])),
    ];
  if (!isFanOut(step)) return executorPlaces(step, loc);
  return [
    ...common(step, loc),
    ...optional('cel', step.fan_out.over, [...loc, 'fan_out', 'over']),
    ...executorPlaces(step.fan_out.step, [...loc, 'fan_out', 'step']),
  ];
}

interface Common {
  when?: string | undefined;
  on_failure: Exclude<OnFailure, string>;
  notifications?: Notifications | undefined;
}

function common(step: Common, loc: Loc): Place[] {
  return [
    ...optional('cel', step.when, [...loc, 'when']),
    ...request(step.on_failure.webhook, [...loc, 'on_failure', 'webhook']),
    ...notifications(step.notifications, [...loc, 'notifications']),
  ];
}

/** The places of one executor step, as an entry, branch or item. */
export function executorPlaces(step: ItemStep, loc: Loc): Place[] {
  switch (step.executor) {
    case 'gateway':
    case 'external':
      return [...common(step, loc), ...agentPlaces(step, loc)];
    case 'human':
      return [...common(step, loc), ...humanPlaces(step, loc)];
    case 'webhook':
      return [...common(step, loc), ...request(step, loc)];
    case 'pipeline':
      return [...common(step, loc), ...subPipelinePlaces(step, loc)];
    default:
      return step satisfies never;
  }
}

function agentPlaces(step: Omit<AgentStep, 'name'>, loc: Loc): Place[] {
  return [
    ...optional('template', step.prompt_template, [...loc, 'prompt_template']),
    ...optional('json_schema', step.output_schema, [...loc, 'output_schema']),
    ...verifier(step.verifier, [...loc, 'verifier']),
    ...optional('template', step.grounding?.prompt_template, [...loc, 'grounding', 'prompt_template']),
    ...step.deterministic_checks.flatMap((check, index) => checkPlaces(check, [...loc, 'deterministic_checks', index])),
  ];
}

function humanPlaces(step: Omit<HumanStep, 'name'>, loc: Loc): Place[] {
  return optional('template', step.prompt_template, [...loc, 'prompt_template']);
}

function subPipelinePlaces(step: Omit<PipelineStep, 'name'>, loc: Loc): Place[] {
  return strings('template', step.context, [...loc, 'context']);
}

function verifier(value: Verifier | undefined, loc: Loc): Place[] {
  return [
    ...optional('cel', value?.when, [...loc, 'when']),
    ...optional('template', value?.prompt_template, [...loc, 'prompt_template']),
  ];
}

function checkPlaces(check: Check, loc: Loc): Place[] {
  const expect = optional('cel', check.expect, [...loc, 'expect']);
  if (check.type === 'webhook') return [...expect, ...request(check, loc)];
  return [
    ...expect,
    { language: 'shell', value: check.run, loc: [...loc, 'run'] },
    ...strings('template', check.env, [...loc, 'env']),
  ];
}

type Request = Partial<FailureWebhook> & Pick<Partial<WebhookStep>, 'method'>;

function request(value: Request | undefined, loc: Loc): Place[] {
  if (!value) return [];
  return [
    ...strings('template_env', value.url, [...loc, 'url']),
    ...strings('template_env', value.headers, [...loc, 'headers']),
    ...strings('template_env', value.payload, [...loc, 'payload']),
  ];
}

function notifications(value: Notifications | undefined, loc: Loc): Place[] {
  return Object.entries(value ?? {}).flatMap(([event, list]) =>
    (list ?? []).flatMap((message, index) => [
      ...optional('template', message.template, [...loc, event, index, 'template']),
      ...strings('env', message.config, [...loc, event, index, 'config']),
    ]),
  );
}

function optional(language: Language, value: unknown, loc: Loc): Place[] {
  return value === undefined ? [] : [{ language, value, loc }];
}

/** Every string in a value of any depth. */
function strings(language: Language, value: unknown, loc: Loc): Place[] {
  if (typeof value === 'string') return [{ language, value, loc }];
  if (Array.isArray(value)) return value.flatMap((item, index) => strings(language, item, [...loc, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => strings(language, item, [...loc, key]));
}
