import { promptHash } from '@signalbox/crds';

export interface PromptText {
  hash: string;
  template: string;
}

type Body = Record<string, unknown>;

const EXECUTORS: ReadonlySet<unknown> = new Set(['gateway', 'external']);

/** The prompts that the steps of a resolved pipeline ask their agents with, each once, under their hash. */
export function promptTexts(pipeline: unknown): PromptText[] {
  const templates = new Set(list(object(pipeline)['steps']).flatMap(withBranches).flatMap(templateOf));
  return [...templates].map((template) => ({ hash: promptHash(template), template }));
}

const withBranches = (step: Body): Body[] => [
  step,
  ...list(object(step['parallel'])['steps']),
  object(object(step['fan_out'])['step']),
];

const templateOf = ({ executor, prompt_template: template }: Body): string[] =>
  EXECUTORS.has(executor) && typeof template === 'string' ? [template] : [];

const object = (value: unknown): Body => (typeof value === 'object' && value !== null ? (value as Body) : {});
const list = (value: unknown): Body[] => (Array.isArray(value) ? value.map(object) : []);
