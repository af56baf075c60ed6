import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { calibrate, type CalibrationRule, dividesOne, type Labelled } from '../../analytics/calibration.ts';
import { type PromptUse, promptVersions } from '../../analytics/prompt-versions.ts';
import { bucketView } from '../calibration-view.ts';
import { count, DefinitionName } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { promptVersionView } from '../versions-view.ts';

export interface StepHistoryRoutesDeps {
  calibration: {
    /** Where a query says nothing else. */
    rule: CalibrationRule;
    /** Marked production executions of a step, as stored now. */
    read(stepName: string): Promise<readonly Labelled[]>;
  };
  /** Null for a name under which nothing ever ran. */
  promptUses(stepName: string): Promise<PromptUse[] | null>;
}

const ByName = z.strictObject({ name: DefinitionName });

/** The width of a bin as text of a query. */
export const BinWidth = z
  .string()
  .regex(/^(0?\.\d{1,18}|1(\.0{1,18})?)$/, 'must be a decimal number up to 1')
  .transform(Number)
  .pipe(z.number().min(0.001).max(1).refine(dividesOne, 'must divide 1 evenly'));
const Rule = z.strictObject({ bin_width: BinWidth.optional(), n_min: count(1, 100_000).optional() });

/** What the past of a step says, by the name under which it ran: in the library or not, loaded or not (Orchestration 4.4). */
export const stepHistoryRoutes = (deps: StepHistoryRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/steps/:name/calibration',
    role: 'viewer',
    summary: 'How often answers of a confidence were right, for each model, prompt and agent version',
    params: ByName,
    query: Rule,
    handler: async ({ params, query }) => {
      const { nMin, binWidth } = deps.calibration.rule;
      const rule = { nMin: query.n_min ?? nMin, binWidth: query.bin_width ?? binWidth };
      const buckets = calibrate(await deps.calibration.read(params.name), rule);
      return { step_name: params.name, buckets: buckets.map(bucketView) };
    },
  }),
  route({
    method: 'GET',
    url: '/steps/:name/versions',
    role: 'viewer',
    summary: 'Every prompt that a step ever used, newest first, with what each changed',
    params: ByName,
    handler: async ({ params }) => {
      const uses = await deps.promptUses(params.name);
      if (uses === null) throw new AppError('not_found', 'no step of this name has ever run');
      const buckets = calibrate(await deps.calibration.read(params.name), deps.calibration.rule);
      return { step_name: params.name, versions: promptVersions(uses, buckets).map(promptVersionView) };
    },
  }),
];
