import { isFanOut, isParallel, type Pipeline } from '@signalbox/crds';
import type { Snapshot } from '../../../service/definitions/definitions.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { scheduleLine } from './limits.ts';

interface Use {
  icon: string;
  text: string;
  links: { name: string; href: string }[];
  note: string | null;
}

/** Everything that may start a run of a pipeline: alerts, its schedule, steps of others, people. */
export function usesOf(entry: Snapshot['pipelines'][number], { pipelines }: Snapshot): Use[] {
  const { name, config } = entry;
  if (config.suspend) return [SUSPENDED];
  const callers = pipelines.filter((other) => startedBy(other.config).includes(name));
  const links = callers.map((other) => ({ name: other.name, href: paths.pipeline(other.name) }));
  return [
    alertUse(entry, pipelines),
    ...(config.schedule ? [{ ...PLAIN, icon: 'schedules', text: `Its schedule: ${scheduleLine(config)}.` }] : []),
    ...(links.length > 0 ? [{ ...PLAIN, icon: 'pipelines', text: 'As a sub-run, a step of', links }] : []),
    { ...PLAIN, icon: 'replays', text: 'A delivery that names it, or a person.', note: `POST /pipelines/${name}/run` },
  ];
}

const PLAIN = { links: [], note: null };

const SUSPENDED = { ...PLAIN, icon: 'stopped', text: 'Nothing, as long as it is suspended.' };

/** Alerts go to the first pipeline that matches, in load order. */
function alertUse({ name, config }: Snapshot['pipelines'][number], pipelines: Snapshot['pipelines']): Use {
  const rules = config.trigger?.match;
  if (rules === undefined) return { ...PLAIN, icon: 'deliveries', text: 'No alert: it has no trigger.match.' };
  const matching = pipelines.filter((one) => one.config.trigger?.match !== undefined);
  const before = matching.findIndex((one) => one.name === name);
  const many = Object.keys(rules).length;
  const text =
    many === 0
      ? 'Every alert.'
      : `Alerts that match ${many === 1 ? 'its rule' : many === 2 ? 'both rules' : `all ${many} rules`}.`;
  const note =
    before > 0
      ? `${plural(before, 'pipeline')} with rules ${before === 1 ? 'comes' : 'come'} before it in the load order.`
      : null;
  return { icon: 'deliveries', text, links: [], note };
}

/** Pipelines that steps of this one start. */
function startedBy({ steps }: Pipeline): string[] {
  const all = steps.flatMap((entry): object[] => {
    if (isParallel(entry)) return entry.parallel.steps;
    return isFanOut(entry) ? [entry.fan_out.step] : [entry];
  });
  return all.flatMap((step) => ('pipeline' in step && typeof step.pipeline === 'string' ? [step.pipeline] : []));
}
