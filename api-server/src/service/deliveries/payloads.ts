import { z } from 'zod';
import { GenericPayload } from '../../triggers/sources/generic.ts';
import { sources } from '../../triggers/sources/index.ts';

/** The bodies that sources read, for the API description. */
export const payloads = {
  any: z.union([...sources].map(([title, { payload }]) => payload.meta({ title }))),
  /** The pipeline is that of the address. */
  manual: GenericPayload.omit({ pipeline: true }).nullish(),
};
