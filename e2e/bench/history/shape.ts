import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a made history is about: 30 pipelines of five steps each, 60 names of steps, 12 agents, 5 models. */
export const PIPELINES = 30;
export const STEPS_A_RUN = 5;
const STEPS = 60;
const AGENTS = 12;
const MODELS = 5;
export const DAYS = 90;
/** Editions of every prompt and agent, one after the other. */
export const EDITIONS = 3;
const TESTING = 4;

const numbered = (word: string, n: number): string => `${word}-${String(n).padStart(2, '0')}`;
export const pipelineName = (n: number): string => numbered('pipeline', n);
export const stepName = (n: number): string => numbered('step', n % STEPS);
export const stageOf = (pipeline: number) => (pipeline >= PIPELINES - TESTING ? 'testing' : 'production');
export const teamOf = (pipeline: number): string | null => (pipeline % 7 === 6 ? null : numbered('team', pipeline % 7));

/** The steps of a pipeline; each name is in two or three pipelines. */
export const stepsOf = (pipeline: number): number[] =>
  Array.from({ length: STEPS_A_RUN }, (_, n) => (pipeline * 2 + n) % STEPS);

export const agentOf = (step: number): string => numbered('agent', step % AGENTS);
export const modelOf = (draw: number): string => numbered('model', draw % MODELS);
export const providerOf = (draw: number): string => (draw % MODELS < 3 ? 'alpha' : 'beta');

/** Writes the definitions of one edition; the service that is measured loads the last one. */
export function writeDefinitions(directory: string, edition: number): string {
  const folder = join(directory, 'pipelines');
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < PIPELINES; n += 1) {
    const pipeline = {
      name: pipelineName(n),
      stage: stageOf(n),
      readiness: { accuracy: { min_marked: 20 } },
      steps: stepsOf(n).map((step) => ({
        name: stepName(step),
        executor: 'gateway',
        agent: agentOf(step),
        prompt_template: `Edition ${edition} of ${stepName(step)}: look at {{summary}} on {{labels.service}}.`,
      })),
    };
    writeFileSync(join(folder, `${pipeline.name}.yaml`), JSON.stringify(pipeline, null, 2));
  }
  return folder;
}
