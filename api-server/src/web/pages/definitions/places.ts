import { isFanOut, isParallel, type Pipeline, promptHash } from '@signalbox/crds';
import { perSnapshot } from '../../../service/definitions/definitions.ts';
import { executorLine } from './shapes.ts';
import { paths } from '../paths.ts';

interface Place {
  name: string;
  /** '' for a group. */
  shape: string;
  prompt: string | null;
}

const promptOf = (step: object): string | null =>
  'prompt_template' in step && typeof step.prompt_template === 'string' ? step.prompt_template : null;

/** All steps of a pipeline, branches included, under the names of their history. */
const stepsOf = ({ steps }: Pipeline): Place[] =>
  steps.flatMap((entry) => {
    if (isFanOut(entry)) {
      const { step } = entry.fan_out;
      return [{ name: entry.name, shape: executorLine(step), prompt: promptOf(step) }];
    }
    if (!isParallel(entry)) return [{ name: entry.name, shape: executorLine(entry), prompt: promptOf(entry) }];
    const branches = entry.parallel.steps.map((branch) => ({
      name: branch.name,
      shape: executorLine(branch),
      prompt: promptOf(branch),
    }));
    return [{ name: entry.name, shape: '', prompt: null }, ...branches];
  });

/** Where loaded pipelines have a step of this name. */
export const placesOf = (name: string, pipelines: readonly { name: string; config: Pipeline }[]) =>
  pipelines.flatMap((pipeline) =>
    stepsOf(pipeline.config)
      .filter((step) => step.name === name)
      .map(({ shape, prompt }) => ({ pipeline: pipeline.name, href: paths.pipeline(pipeline.name), shape, prompt })),
  );

const byName = new Intl.Collator('en', { numeric: true });

/** The steps of all loaded pipelines by name, each with the pipelines that have it. */
export const pipelineSteps = perSnapshot(({ pipelines }) => {
  const steps = pipelines.flatMap(({ name: pipeline, config }) => {
    const user = { name: pipeline, href: paths.pipeline(pipeline) };
    return stepsOf(config).map(({ name, shape }) => ({ name, shape, user }));
  });
  return [...Map.groupBy(steps, ({ name }) => name)]
    .toSorted(([a], [b]) => byName.compare(a, b))
    .map(([name, found]) => ({
      name,
      href: paths.step(name),
      shape: [...new Set(found.map(({ shape }) => shape || 'group'))].join(', '),
      users: found.map(({ user }) => user),
    }));
});

/** Hashes of the prompts that loaded steps use. */
export const promptsOf = (prompts: readonly (string | null)[]): ReadonlySet<string> =>
  new Set(prompts.filter((prompt) => prompt !== null).map(promptHash));
