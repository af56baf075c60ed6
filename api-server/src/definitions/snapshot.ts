import type { CompiledMatch, Problem, ResolvedPipeline, ResolvedStep } from '@signalbox/crds';

/** A pipeline as the service uses it; `match` is null where resolution never chooses it. */
export interface LoadedPipeline extends ResolvedPipeline {
  readonly match: CompiledMatch | null;
}

/** All definitions of one load, replaced as a whole. Pipelines stand in load order (Design 4). */
export interface Snapshot {
  readonly pipelines: readonly LoadedPipeline[];
  readonly byName: ReadonlyMap<string, LoadedPipeline>;
  readonly steps: readonly ResolvedStep[];
  readonly stepsByName: ReadonlyMap<string, ResolvedStep>;
  readonly problems: readonly Problem[];
  readonly hash: string;
  readonly loadedAt: number;
}
