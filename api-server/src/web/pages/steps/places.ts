import { promptHash } from '@signalbox/crds';
import { type Config, list, object, text } from '../definitions/config.ts';
import type { DefinitionEntry } from '../page-deps.ts';
import { paths } from '../paths.ts';

/** The steps of a pipeline under the names by which their history is kept, those of groups and fan-outs too. */
function stepsOf({ config }: DefinitionEntry): { name: string; config: Config }[] {
  return list(config['steps']).flatMap((entry) => {
    const each = object(object(entry['fan_out'])['step']);
    const own = { name: text(entry['name']), config: Object.keys(each).length > 0 ? each : entry };
    const branches = list(object(entry['parallel'])['steps']);
    return [own, ...branches.map((branch) => ({ name: text(branch['name']), config: branch }))];
  });
}

/** Where loaded pipelines have a step of this name. */
export const placesOf = (name: string, pipelines: readonly DefinitionEntry[]) =>
  pipelines.flatMap((pipeline) =>
    stepsOf(pipeline)
      .filter((step) => step.name === name)
      .map((step) => ({ pipeline: pipeline.name, href: paths.pipeline(pipeline.name), config: step.config })),
  );

/** Hashes of the prompts that these steps ask with. */
export const promptsOf = (configs: readonly Config[]): ReadonlySet<string> =>
  new Set(
    configs
      .map(({ prompt_template: prompt }) => prompt)
      .filter((prompt) => typeof prompt === 'string')
      .map(promptHash),
  );
