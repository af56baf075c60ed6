import { z } from 'zod';
import { idOf } from '../../service/fields.ts';
import { MemberNote, NewGoldenMember, NewGoldenSet } from '../../service/golden-sets/golden-sets.ts';
import type { Services } from '../../service/services.ts';
import { component } from '../../service/views/answer.ts';
import {
  GoldenMemberLine,
  GoldenMemberRemoved,
  GoldenSetDetail,
  GoldenSetImported,
  GoldenSetLine,
  GoldenSetList,
} from '../../service/views/analytics/golden-set.ts';
import { route, type Route } from '../route.ts';

const OfSet = z.strictObject({ id: idOf('golden set') });
const OfMember = z.strictObject({ id: idOf('golden set'), member_id: idOf('member') });
const FILE = '{"golden_set":"checkout-triage","step_name":"investigate","description":""}\n';
const File = component('GoldenSetFile', z.strictObject({ jsonl: z.string() }), { jsonl: FILE });

/** Golden sets (Orchestration 2.11). */
export const goldenSetRoutes = ({ goldenSets }: Pick<Services, 'goldenSets'>): Route[] => [
  route({
    method: 'GET',
    url: '/golden-sets',
    role: 'viewer',
    id: 'listGoldenSets',
    tag: 'replay',
    summary: 'All golden sets by name',
    answers: { 200: GoldenSetList },
    handler: () => goldenSets.list(),
  }),
  route({
    method: 'POST',
    url: '/golden-sets',
    role: 'operator',
    id: 'createGoldenSet',
    tag: 'replay',
    summary: 'Create a golden set for executions of one step',
    body: NewGoldenSet,
    answers: { 201: GoldenSetLine },
    refusals: ['collision', 'unavailable'],
    handler: ({ body, actor }) => goldenSets.create(body, actor),
  }),
  route({
    method: 'POST',
    url: '/golden-sets/import',
    role: 'operator',
    id: 'importGoldenSet',
    tag: 'replay',
    summary:
      'Import a golden set from JSONL; members that the file lacks stay, and other labels than those of the set need `overwrite`',
    query: z.strictObject({ overwrite: z.enum(['true', 'false']).optional() }),
    body: File,
    answers: { 200: GoldenSetImported },
    refusals: ['conflict', 'unavailable'],
    handler: ({ body, query, actor }) =>
      goldenSets.importFile({ ...body, overwrite: query.overwrite === 'true' }, actor),
  }),
  route({
    method: 'GET',
    url: '/golden-sets/:id',
    role: 'viewer',
    id: 'getGoldenSet',
    tag: 'replay',
    summary: 'A golden set with its members',
    params: OfSet,
    answers: { 200: GoldenSetDetail },
    refusals: ['not_found'],
    handler: ({ params }) => goldenSets.get(params.id),
  }),
  route({
    method: 'GET',
    url: '/golden-sets/:id/export',
    role: 'viewer',
    id: 'exportGoldenSet',
    tag: 'replay',
    summary: 'A golden set as JSONL: the set, then a member a line',
    params: OfSet,
    answers: { 200: { mediaType: 'application/x-ndjson', example: FILE } },
    refusals: ['not_found'],
    handler: async ({ params, reply }) => {
      const { text } = await goldenSets.exportFile(params.id);
      reply.header('content-type', 'application/x-ndjson; charset=utf-8').send(Buffer.from(text));
    },
  }),
  ...(['archive', 'restore'] as const).map((change) =>
    route({
      method: 'POST',
      url: `/golden-sets/:id/${change}`,
      role: 'operator',
      id: `${change}GoldenSet`,
      tag: 'replay',
      summary:
        change === 'archive' ? 'Archive a golden set: it is not replayed any more' : 'Restore an archived golden set',
      params: OfSet,
      answers: { 200: GoldenSetLine },
      refusals: ['not_found', 'unavailable'],
      handler: ({ params, actor }) => goldenSets.archive(params.id, change === 'archive', actor),
    }),
  ),
  route({
    method: 'POST',
    url: '/golden-sets/:id/members',
    role: 'operator',
    id: 'pinStep',
    tag: 'replay',
    summary: 'Pin a labelled step execution; the member keeps the label of this moment',
    params: OfSet,
    body: NewGoldenMember,
    answers: { 201: GoldenMemberLine },
    refusals: ['not_found', 'conflict', 'unprocessable', 'unavailable'],
    handler: ({ params, body, actor }) => goldenSets.pin(params.id, body, actor),
  }),
  route({
    method: 'PATCH',
    url: '/golden-sets/:id/members/:member_id',
    role: 'operator',
    id: 'noteGoldenMember',
    tag: 'replay',
    summary: 'Change the note of a member',
    params: OfMember,
    body: MemberNote,
    answers: { 200: GoldenMemberLine },
    refusals: ['not_found', 'unavailable'],
    handler: ({ params, body, actor }) => goldenSets.note(params.id, params.member_id, body.note, actor),
  }),
  route({
    method: 'DELETE',
    url: '/golden-sets/:id/members/:member_id',
    role: 'operator',
    id: 'removeGoldenMember',
    tag: 'replay',
    summary: 'Remove a member; retention applies to its run again',
    params: OfMember,
    answers: { 200: GoldenMemberRemoved },
    refusals: ['not_found', 'unavailable'],
    handler: async ({ params, actor }) => {
      await goldenSets.remove(params.id, params.member_id, actor);
      return { removed: params.member_id };
    },
  }),
];
