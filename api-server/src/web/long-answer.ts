import { createRest } from '@signalbox/crds/process/rest';
import type { FastifyReply } from 'fastify';

/** Steps whose JSON is written in one turn. */
const FEW = 500;

/** An answer, with the JSON of many steps written in turns. */
export async function withSteps<Answer extends { steps: readonly unknown[] }>(
  answer: Answer,
  reply: FastifyReply,
): Promise<Answer | string> {
  const { steps, ...head } = answer;
  if (steps.length <= FEW) return answer;
  const written: string[] = [];
  const rest = createRest();
  for (const step of steps) {
    await rest();
    written.push(JSON.stringify(step));
  }
  reply.type('application/json; charset=utf-8');
  return `${JSON.stringify(head).slice(0, -1)},"steps":[${written.join(',')}]}`;
}
