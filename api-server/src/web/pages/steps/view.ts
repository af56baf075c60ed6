import type { CalibrationRule } from '../../../service/views/analytics/calibration.ts';
import type { BucketView } from '../../../service/views/analytics/calibration.ts';
import type { PromptVersionView } from '../../../service/views/analytics/versions.ts';
import type { ModelStatistics, StepStatistics } from '../../../service/views/analytics/statistics.ts';
import { stepView } from '../definitions/view.ts';
import { busiest } from '../insights/groups.ts';
import { modelRows, summaryOf } from '../insights/summary.ts';
import type { Snapshot } from '../../../service/definitions/definitions.ts';
import { paths } from '../paths.ts';
import { calibrationView } from './calibration.ts';
import { placesOf, promptsOf } from '../definitions/places.ts';
import { promptVersionsView } from './prompt-versions.ts';

export interface StepPast {
  /** Names of the pipelines that had a step of this name, and the one whose past this is where there are several. */
  pipelines: readonly string[];
  pipeline: string | null;
  buckets: readonly BucketView[];
  /** Null where nothing ever ran under this name. */
  versions: readonly PromptVersionView[] | null;
  /** Null while they take too long. */
  stats: StepStatistics | null;
  models: ModelStatistics[] | null;
}

interface Around {
  rule: CalibrationRule;
  now: number;
}

const NO_PAST: StepPast = { pipelines: [], pipeline: null, buckets: [], versions: null, stats: null, models: null };

/** A step of the library, of pipelines or of earlier runs. `past` is null while its statistics take too long; null where no step has this name. */
export function stepPageView(name: string, definitions: Snapshot, past: StepPast | null, { rule, now }: Around) {
  const entry = definitions.steps.find((step) => step.name === name) ?? null;
  const library = entry && stepView(entry, definitions);
  const places = placesOf(name, definitions.pipelines);
  const isLoaded = entry !== null || places.length > 0;
  const { versions, buckets, stats, models, pipelines, pipeline } = past ?? NO_PAST;
  if (!isLoaded && past !== null && versions === null) return null;
  const current = promptsOf([...places.map(({ prompt }) => prompt), library && library.prompt]);
  return {
    library,
    name,
    listPath: paths.steps(),
    places: places.filter((place) => pipeline === null || place.pipeline === pipeline).map(placeLine),
    busy: past === null,
    gone: !isLoaded,
    ran: versions !== null,
    pipeline,
    pipelines: pipelines.map((one) => ({
      name: one,
      href: paths.step(name, { pipeline: one }),
      current: one === pipeline,
    })),
    replay: replayOf(name, versions),
    summary: summaryOf(stats, 'executions'),
    models: busiest(modelRows(models)),
    calibration: calibrationView(name, buckets, rule),
    versions: promptVersionsView(versions ?? [], { step: name, now, current, route: versionsRoute(name, pipeline) }),
  };
}

const versionsRoute = (name: string, pipeline: string | null): string =>
  `GET /steps/${name}/versions${pipeline === null ? '' : `?pipeline=${pipeline}`}`;

/** Only what asked an agent can be replayed. */
const replayOf = (step: string, versions: StepPast['versions']) =>
  versions !== null && versions.length > 0 ? paths.replayNew({ step }) : null;

const placeLine = ({ pipeline, href, shape }: ReturnType<typeof placesOf>[number]) => ({ pipeline, href, shape });
