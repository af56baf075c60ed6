import { z } from 'zod';
import { component } from './answer.ts';

/** The API description itself, an OpenAPI 3.1 document. */
export const ApiDocument = component(
  'ApiDocument',
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
  { openapi: '3.1.0', paths: {} },
);
