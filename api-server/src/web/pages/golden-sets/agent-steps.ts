import { isFanOut, isParallel, type Pipeline } from '@signalbox/crds';
import type { Snapshot } from '../../../service/definitions/definitions.ts';

type Loaded = Pick<Snapshot, 'pipelines'>;

/** Names under which agents of loaded pipelines answer. */
export const agentStepNames = (loaded: Loaded): string[] => unique(stepsOf(loaded).map(({ name }) => name));

/** Who answers under a name, as `replay.safe_agents` names it. */
export const agentsOf = (loaded: Loaded, step: string): string[] =>
  unique(stepsOf(loaded).flatMap(({ name, agent }) => (name === step ? [agent] : [])));

const unique = (texts: string[]): string[] => [...new Set(texts)].toSorted();

interface AgentStep {
  name: string;
  agent: string;
}

const stepsOf = ({ pipelines }: Loaded): AgentStep[] => pipelines.flatMap(({ config }) => agentSteps(config));

const agentSteps = ({ steps }: Pick<Pipeline, 'steps'>): AgentStep[] =>
  steps.flatMap((entry) => {
    if (isParallel(entry)) return entry.parallel.steps.flatMap((step) => withAgent(step.name, step));
    return withAgent(entry.name, isFanOut(entry) ? entry.fan_out.step : entry);
  });

const withAgent = (name: string, step: object): AgentStep[] =>
  'agent' in step && typeof step.agent === 'string' && 'executor' in step
    ? [{ name, agent: `${String(step.executor)}:${step.agent}` }]
    : [];
