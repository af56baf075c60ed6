import type { AgentStep, ExecutorStep, Pipeline } from '@signalbox/crds';
import type { ReplayChainEstimate } from '../../../service/views/replay-estimate.ts';
import { apiPath } from '../curl.ts';
import { count, money } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { asksAgent, chainLaunchOf, type EnteredChain, singleSteps, templatesOf } from './chain-form.ts';
import { candidateIn } from './form.ts';
import { NO_CHANGE } from './form-view.ts';
import { templateDiff } from './template-diff.ts';
import { candidateWords } from './words.ts';

export interface ChainFormInput {
  entered: EnteredChain;
  /** As it is loaded. */
  pipeline: Pipeline;
  /** `<executor>:<agent>`. */
  safeAgents: readonly string[];
  estimate: ReplayChainEstimate | null;
  /** Why it would not start. */
  problem: string | null;
  operator: boolean;
  /** Of the launch. */
  key: string;
  currency: string;
}

export function chainFormView(input: ChainFormInput) {
  const { entered, pipeline, safeAgents } = input;
  const entries = singleSteps(pipeline);
  const names = pipeline.steps.map(({ name }) => name);
  const [from, to] = [names.indexOf(entered.from), names.indexOf(entered.to)];
  const inRange = ({ name }: { name: string }) => names.indexOf(name) >= from && names.indexOf(name) <= to;
  const options = (chosen: string) =>
    entries.map((step) => ({ value: step.name, label: stepWords(step), selected: step.name === chosen }));
  const launch = chainLaunchOf(entered, templatesOf(pipeline));
  return {
    list: paths.replays(),
    pipelineHref: paths.pipeline(pipeline.name),
    action: paths.replayRange(),
    pipeline: pipeline.name,
    off: safeAgents.length === 0,
    noAgents: !entries.some(asksAgent),
    operator: input.operator,
    key: input.key,
    problem: input.problem,
    startable: (input.estimate?.sample_count ?? 0) > 0,
    k: entered.k,
    from: options(entered.from),
    to: options(entered.to),
    estimate: estimateWords(input),
    plan: entries.filter(inRange).map((step) => ({ name: step.name, words: planWords(step, entered) })),
    steps: entries.filter(asksAgent).map((step) => stepForm(step, input, inRange(step))),
    command: launch.ok
      ? { label: 'Copy as curl', path: apiPath('pipelines', pipeline.name, 'replay'), body: launch.body }
      : null,
  };
}

const stepWords = (step: ExecutorStep): string =>
  asksAgent(step) ? step.name : `${step.name} (${step.executor}, answered from the record)`;

/** What the replay does with the step. */
function planWords(step: ExecutorStep, { steps }: EnteredChain): string {
  if (!asksAgent(step)) return `is not executed: this ${step.executor} step answers what was recorded`;
  const entered = steps.get(step.name);
  const candidate = entered ? candidateIn(entered, step.prompt_template) : null;
  const changed = Object.entries(candidate ?? {}).filter(([, value]) => value !== null);
  return changed.length === 0
    ? 'is asked again as it is'
    : `is asked again with ${candidateWords(Object.fromEntries(changed))}`;
}

function stepForm(step: AgentStep, { entered, safeAgents }: ChainFormInput, inRange: boolean) {
  const own = entered.steps.get(step.name) ?? { model: '', agent: '', prompt: null };
  const { prompt_template: changed } = candidateIn(own, step.prompt_template);
  const agents = safeAgents.flatMap((name) =>
    name.startsWith(`${step.executor}:`) ? [name.slice(step.executor.length + 1)] : [],
  );
  return {
    name: step.name,
    note: inRange ? `agent ${step.agent}` : 'outside of the range',
    model: own.model,
    placeholder: step.model ?? 'The agent decides',
    agents: [...new Set(agents)].map((agent) => ({ value: agent, selected: agent === own.agent })),
    agent: step.agent,
    prompt: own.prompt ?? step.prompt_template,
    open: inRange,
    diff: templateDiff(step.prompt_template, changed, { bytes: 60_000, ms: 50 }),
  };
}

const isChanged = ({ steps }: EnteredChain, pipeline: Pipeline): boolean =>
  singleSteps(pipeline)
    .filter(asksAgent)
    .some(({ name, prompt_template: template }) => {
      const entered = steps.get(name);
      return entered !== undefined && Object.values(candidateIn(entered, template)).some((value) => value !== null);
    });

/** The line beside the number of recorded runs. */
function estimateWords({ estimate, entered, pipeline, currency }: ChainFormInput) {
  if (estimate === null) return null;
  const { total, sample_count: runs, steps } = estimate;
  const unpriced = steps.filter((step) => step.total === null).map(({ step_name: name }) => name);
  const tokens = steps.reduce((sum, one) => sum + (one.mean_input_tokens ?? 0) + (one.mean_output_tokens ?? 0), 0);
  const notes = [
    `${plural(runs, 'recorded run')}, ${plural(steps.length, 'question')} each${tokens > 0 ? `, about ${count(Math.round(tokens))} tokens a run` : ''}.`,
    isChanged(entered, pipeline) ? '' : NO_CHANGE,
    unpriced.length > 0 ? `No price is known for ${unpriced.join(', ')}.` : '',
  ];
  return {
    amount: total === null ? 'Cost unknown' : `About ${money(total, currency)}`,
    notes: notes.filter(Boolean).join(' '),
  };
}
