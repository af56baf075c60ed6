import { z } from 'zod';
import { TERMINAL_RUN_STATUSES } from '../../runs/state/model.ts';
import { component } from './answer.ts';

/** The end of a launch that waited for its batch (Orchestration 2.10). */
export const ReplayLaunched = component(
  'ReplayLaunched',
  z.strictObject({ status: z.enum(TERMINAL_RUN_STATUSES), run_id: z.string() }),
  { status: 'completed', run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6' },
);
export type ReplayLaunched = z.infer<typeof ReplayLaunched>;
