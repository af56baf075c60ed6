import { isFanOut, isParallel, type Pipeline } from '@signalbox/crds';
import type { Snapshot } from '../../../service/definitions/definitions.ts';

/** Names under which agents of loaded pipelines answer. */
export const agentStepNames = ({ pipelines }: Pick<Snapshot, 'pipelines'>): string[] =>
  [...new Set(pipelines.flatMap(({ config }) => agentSteps(config)))].toSorted();

const agentSteps = ({ steps }: Pick<Pipeline, 'steps'>): string[] =>
  steps.flatMap((entry) => {
    if (isParallel(entry)) return entry.parallel.steps.filter(hasAgent).map(({ name }) => name);
    return hasAgent(isFanOut(entry) ? entry.fan_out.step : entry) ? [entry.name] : [];
  });

const hasAgent = (step: object): boolean => 'agent' in step && typeof step.agent === 'string';
