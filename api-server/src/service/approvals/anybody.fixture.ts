import type { ApproverRules } from './approvers.ts';

/** Every operator may decide, and one is enough. */
export const ANYBODY: ApproverRules = { approvers: null, required: 1, notTheStarter: false };
