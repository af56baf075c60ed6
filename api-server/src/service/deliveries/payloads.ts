import { z } from 'zod';
import { GenericPayload } from '../../triggers/sources/generic.ts';
import { sources } from '../../triggers/sources/index.ts';
import { component } from '../views/answer.ts';

const EVENT = { event: 'nightly', summary: 'Look at the backups', data: { host: 'db-1' } };

/** The body schemas of the sources, for the API description. */
export const payloads = {
  any: component('Delivery', z.union([...sources].map(([title, { payload }]) => payload.meta({ title }))), {
    pipeline: 'host-load',
    ...EVENT,
  }),
  /** The path names the pipeline. */
  manual: component('ManualRun', GenericPayload.omit({ pipeline: true }), EVENT).nullish(),
};
