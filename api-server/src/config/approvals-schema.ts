import { z } from 'zod';
import { block, flag, text, whole } from './fields.ts';

/** One person: the name of a token or `platform:user id`; a list where the same person has several. */
const Person = z.union([text(), z.array(text()).min(1)]);
const DEFAULT = 'default';

/** Who may decide approvals (Orchestration 3). */
export const ApprovalsBlock = block({
  approvers: z
    .record(text(), z.array(Person).min(1))
    .optional()
    .describe(
      'Team -> who may decide its approvals, `default` for all other teams: names of tokens, `slack:USER` or `telegram:USER`; a list is one person with several of them. Without it every operator and every member of the chat may',
    ),
  required: whole(1, 2).default(1).describe('How many different persons have to approve; one rejection is enough'),
  not_the_starter: flag()
    .default(false)
    .describe('Whether a person who started a run, or the run that it is part of, may not approve in it'),
}).superRefine(({ approvers, required }, context) => {
  if (approvers === undefined) return;
  if (!(DEFAULT in approvers))
    context.addIssue({ code: 'custom', path: ['approvers', DEFAULT], message: 'is missing' });
  for (const [team, persons] of Object.entries(approvers))
    if (persons.length < required)
      context.addIssue({ code: 'custom', path: ['approvers', team], message: `needs at least ${required} persons` });
});
export type ApprovalsBlock = z.infer<typeof ApprovalsBlock>;
