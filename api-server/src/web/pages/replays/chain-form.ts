import { type AgentStep, type ExecutorStep, isFanOut, isParallel, type Pipeline } from '@signalbox/crds';
import { ChainLaunch, MAX_K } from '../../../service/replay/bodies.ts';
import { candidateIn, DEFAULT_K, textOf, unix } from './form.ts';

/** What was entered for one step, as text. */
export interface EnteredStep {
  model: string;
  agent: string;
  /** Null where it was not sent: the template stays. */
  prompt: string | null;
}

export interface EnteredChain {
  pipeline: string;
  from: string;
  to: string;
  k: string;
  /** By name, of every step that asks an agent. */
  steps: ReadonlyMap<string, EnteredStep>;
}

/** Entries that a range may consist of: a group in it cannot be fed. */
export const singleSteps = ({ steps }: Pick<Pipeline, 'steps'>): ExecutorStep[] =>
  steps.filter((step): step is ExecutorStep => !isParallel(step) && !isFanOut(step));

export const asksAgent = (step: ExecutorStep): step is AgentStep =>
  step.executor === 'gateway' || step.executor === 'external';

export function readChain(form: Record<string, unknown>, pipeline: Pipeline): EnteredChain {
  const line = (key: string) => textOf(form[key]).trim();
  const [from, to] = widestRange(pipeline);
  const steps = singleSteps(pipeline).filter(asksAgent);
  return {
    pipeline: pipeline.name,
    from: line('from_step') || from,
    to: line('to_step') || to,
    k: line('k') || String(DEFAULT_K),
    steps: new Map(
      steps.map(({ name }) => {
        const prompt = form[`prompt:${name}`];
        const changes = { model: line(`model:${name}`), agent: line(`agent:${name}`) };
        return [name, { ...changes, prompt: typeof prompt === 'string' ? unix(prompt) : null }];
      }),
    ),
  };
}

/** From the first step that asks an agent to the last one before a group. */
function widestRange({ steps }: Pipeline): readonly [string, string] {
  const isAsking = (step: Pipeline['steps'][number]) => !isParallel(step) && !isFanOut(step) && asksAgent(step);
  const first = steps.findIndex(isAsking);
  const after = steps.slice(Math.max(0, first));
  const group = after.findIndex((step) => isParallel(step) || isFanOut(step));
  const range = group === -1 ? after : after.slice(0, group);
  const last = range.findLast(isAsking);
  return [steps[first]?.name ?? '', last?.name ?? ''];
}

/** As they are loaded, by step. */
export const templatesOf = (pipeline: Pipeline): ReadonlyMap<string, string> =>
  new Map(
    singleSteps(pipeline)
      .filter(asksAgent)
      .map(({ name, prompt_template: template }) => [name, template]),
  );

/** The body of a launch, or what is wrong with it. Steps whose fields are as they are loaded are not part of the candidate. */
export function chainLaunchOf({ from, to, k, steps }: EnteredChain, templates: ReadonlyMap<string, string>) {
  const changed = [...steps].flatMap(([name, entered]) => {
    const candidate = candidateIn(entered, templates.get(name) ?? null);
    return Object.values(candidate).some((value) => value !== null) ? [[name, candidate] as const] : [];
  });
  const body = { from_step: from, to_step: to, candidate: Object.fromEntries(changed), k: Number(k) };
  const asked = ChainLaunch.safeParse(body);
  if (asked.success) return { ok: true as const, body: asked.data };
  const [issue] = asked.error.issues;
  const field = issue?.path.join('.') ?? '';
  const problem = field === 'k' ? `Recorded runs: a whole number from 1 to ${MAX_K}` : `${field}: ${issue?.message}`;
  return { ok: false as const, problem };
}
