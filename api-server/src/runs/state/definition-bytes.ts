import { LRUCache } from 'lru-cache';
import { contentHash, limitedNamespace, type Pipeline } from '@signalbox/crds';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import type { DailyBytes } from './daily-bytes.ts';
import type { Failure } from './executor.ts';

/** The bodies of definitions that runs begin with, counted towards the day of their namespaces. */
export interface DefinitionBytes {
  /** Counts a body that this process has not used for a day, after which retention may remove it; why it may not be stored, or null. */
  count(pipeline: LoadedPipeline): Failure | null;
  /** What a run begins with that no step started, so that it is accepted in any case: without room for the body one that ends it at once. */
  storable(pipeline: LoadedPipeline): LoadedPipeline;
}

const COUNTED = { max: 10_000, ttl: 86_400_000, updateAgeOnGet: true };

/** `kept`: hashes of bodies that are stored. */
export function createDefinitionBytes(dailyBytes: DailyBytes, kept: Iterable<string>): DefinitionBytes {
  const counted = new LRUCache<string, true>(COUNTED);
  for (const hash of kept) counted.set(hash, true);
  const sizes = new WeakMap<Pipeline, number>();
  const sizeOf = (config: Pipeline): number => {
    const size = sizes.get(config) ?? Buffer.byteLength(JSON.stringify(config));
    sizes.set(config, size);
    return size;
  };
  const count = ({ hash, config, standing }: LoadedPipeline): Failure | null => {
    const namespace = limitedNamespace(standing);
    if (namespace === null || counted.get(hash)) return null;
    const refused = dailyBytes({ namespace }, sizeOf(config));
    if (refused === null) counted.set(hash, true);
    return refused;
  };
  return { count, storable: (pipeline) => (count(pipeline) === null ? pipeline : withoutSteps(pipeline)) };
}

/** Of a run that began without its steps. */
export const NOT_STORED =
  'daily_bytes: no step ran, because the definition is new and there was no room to store it in this day of its namespace (daily_bytes of tenancy.namespaces)';

/** Of the settings of one message, as JSON. */
const MAX_CONFIG = 2_048;

/** Who is told of the end of a run, and nothing that it could do: `runSequence` ends it at once, also after a restart. */
function withoutSteps(pipeline: LoadedPipeline): LoadedPipeline {
  const { name, stage, durable, concurrency, attention, notifications } = pipeline.config;
  const config: Pipeline = {
    name,
    description: '',
    stage,
    tags: [],
    suspend: false,
    vars: {},
    durable,
    ...(concurrency && { concurrency }),
    ...(attention && { attention }),
    notifications: { fail: short(notifications?.fail), escalate: short(notifications?.escalate) },
    steps: [],
  };
  return { ...pipeline, text: '', config, body: { ...config }, hash: contentHash({ ...config }) };
}

type Messages = NonNullable<Pipeline['notifications']>['fail'];

const short = (messages: Messages): Messages =>
  messages
    ?.filter(({ config = {} }) => JSON.stringify(config).length <= MAX_CONFIG)
    .map(({ channel, config }) => ({ channel, config }));
