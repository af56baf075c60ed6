import { z } from 'zod';
import { PodFields } from './agent.ts';
import { MatchRules } from './fields.ts';

const Word = z.string().min(1).max(253);

/** What the definitions of one namespace may do; a key that is absent does not restrict, but `names`, `pod_fields` and `daily_bytes`. */
export const Tenant = z.strictObject({
  team: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Team of all runs of these pipelines, whatever the token or the definition says'),
  match: MatchRules.optional().describe(
    'Rules, as in `trigger.match`, that an alert must also meet before one of these pipelines gets it',
  ),
  agents: z
    .array(Word)
    .optional()
    .describe(
      'Agents that the steps may name, and names of `Agent` objects; `*` at the end of an entry stands for any characters',
    ),
  egress_allow: z
    .array(Word)
    .optional()
    .describe('Private addresses or networks that HTTP requests may reach, instead of `security.egress_allow`'),
  receivers: z
    .array(Word)
    .optional()
    .describe(
      'Rooms and addresses that messages may name for the bot and the mail server of the service, as `slack:#shop-*` or `email:*@shop.example`; one `*` stands for any characters',
    ),
  names: z
    .array(Word)
    .optional()
    .describe(
      'Names of pipelines and library steps that its objects may take, with their history, although another namespace or the operator had them last',
    ),
  pod_fields: z
    .array(PodFields.keyof())
    .optional()
    .describe(
      'Keys of `runtime`, besides `mode`, `replicas` and `resources`, that its `Agent` objects may set; absent is none',
    ),
  max_runs: z.number().int().min(1).max(100_000).optional().describe('Runs that may be active at the same time'),
  max_tokens_month: z
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Tokens of a calendar month in UTC; once they are spent, no run starts until the next month'),
  daily_bytes: z
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(
      'Characters of prompts, lists of fan-outs and answers of its steps, of their questions to people, of alerts that sub-runs get, of messages of its runs and of definitions that they begin with, in a day in UTC, 1,073,741,824 where it is absent; a step over it fails, as does a run whose definition has no room, a message has its default form or is left out',
    ),
});
export type Tenant = z.infer<typeof Tenant>;

/** Who may use the service with objects of Kubernetes. Files are the operator's own and never restricted. */
export const Tenancy = z.strictObject({
  open: z
    .boolean()
    .default(false)
    .describe(
      'Whether pipelines of namespaces that are not listed get alerts and schedules; the release’s own always does',
    ),
  library: z
    .array(Word)
    .default([])
    .describe(
      'Namespaces, besides the release’s, whose library steps every pipeline may use; others are for their own namespace',
    ),
  namespaces: z
    .record(Word, Tenant)
    .default({})
    .describe(
      'Namespace -> what its pipelines may do; without an entry a pipeline of another namespace gets no alerts',
    ),
});
export type Tenancy = z.infer<typeof Tenancy>;
