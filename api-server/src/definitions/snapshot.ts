import type { CompiledMatch, Problem, ResolvedPipeline, ResolvedStep } from '@signalbox/crds';

/** A loaded pipeline; `match` is null for a pipeline that is only started by name. */
export interface LoadedPipeline extends ResolvedPipeline {
  readonly match: CompiledMatch | null;
  /** Rules of its namespace (`tenancy.namespaces`) that an alert must meet; absent where there are none. */
  readonly admission?: CompiledMatch;
}

/** All definitions of one load, replaced as a whole. Pipelines are in load order. */
export interface Snapshot {
  readonly pipelines: readonly LoadedPipeline[];
  readonly byName: ReadonlyMap<string, LoadedPipeline>;
  readonly steps: readonly ResolvedStep[];
  readonly stepsByName: ReadonlyMap<string, ResolvedStep>;
  readonly problems: readonly Problem[];
  /** The same, in the same order, with files as they are shown. */
  readonly shown: readonly Problem[];
  readonly hash: string;
  readonly loadedAt: number;
}
