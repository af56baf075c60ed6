import { z } from 'zod';
import { Tags, Text } from './fields.ts';
import { executorShapes } from './step.ts';
import { StepName } from '../names.ts';

const library = {
  name: StepName.describe('name for use:'),
  description: Text.optional().describe('free text for people'),
  tags: Tags.default([]).describe('tags for people'),
};

/** A reusable executor step (Orchestration 1); a pipeline's `use:` entry may override each of its keys. */
export const LibraryStep = z.discriminatedUnion('executor', [
  z.strictObject({ ...library, ...executorShapes.gateway }),
  z.strictObject({ ...library, ...executorShapes.external }),
  z.strictObject({ ...library, ...executorShapes.human }),
  z.strictObject({ ...library, ...executorShapes.webhook }),
  z.strictObject({ ...library, ...executorShapes.pipeline }),
]);
export type LibraryStep = z.infer<typeof LibraryStep>;
