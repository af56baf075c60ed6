import { z } from 'zod';
import { component } from './answer.ts';
import { ReplayReport } from './replay.ts';
import { CHAIN_REPORT, ReplayChainReport } from './replay-chain.ts';

/** A batch of one step, or of a range of steps; `kind` says which. */
export const AnyReplayReport = component(
  'AnyReplayReport',
  z.discriminatedUnion('kind', [ReplayReport, ReplayChainReport]),
  CHAIN_REPORT,
);
export type AnyReplayReport = z.infer<typeof AnyReplayReport>;
