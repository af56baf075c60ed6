import { alertRouter } from './alert-router.ts';
import { generic } from './generic.ts';
import type { Source } from './source.ts';

export const sources: ReadonlyMap<string, Source> = new Map(
  [generic, alertRouter].map((source) => [source.name, source]),
);
