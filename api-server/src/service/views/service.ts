import { z } from 'zod';
import { component } from './answer.ts';

/** `GET /health` (Orchestration 4.3). */
export const Health = component(
  'Health',
  z.strictObject({
    status: z.literal('ok'),
    version: z.string(),
    /** Runs that execute, and how many may. */
    active_runs: z.number(),
    max_concurrent_runs: z.number(),
    /** What operators should know, such as messages that did not arrive; the status never depends on it. */
    warnings: z.array(z.string()),
  }),
  { status: 'ok', version: '0.1.0', active_runs: 2, max_concurrent_runs: 10, warnings: [] },
);
export type Health = z.infer<typeof Health>;

export const Ready = component('Ready', z.strictObject({ status: z.literal('ready') }), { status: 'ready' });
export type Ready = z.infer<typeof Ready>;
