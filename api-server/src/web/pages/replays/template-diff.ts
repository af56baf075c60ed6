import { createBudget } from '../diff/budget.ts';
import { sides } from './sides.ts';

const ROOM = { bytes: 150_000, ms: 100 };

/** A changed template beside the recorded one; null where nothing is changed or the recorded one is not stored. */
export const templateDiff = (recorded: string | null, changed: string | null, room = ROOM) =>
  changed === null || recorded === null
    ? null
    : sides(['Recorded template', 'Your template'], [recorded, changed], createBudget(room));
