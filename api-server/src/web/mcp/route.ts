import { holdsMore } from '@signalbox/crds';
import { z } from 'zod';
import { component } from '../../service/views/answer.ts';
import { ErrorAnswer } from '../../service/views/error.ts';
import { Anything, route, type Route } from '../route.ts';
import { type Inject, toolOf } from './call.ts';
import { TOOLS } from './tools.ts';

const RpcMessage = component('McpMessage', z.looseObject({ jsonrpc: z.literal('2.0') }), {
  jsonrpc: '2.0',
  id: 1,
  result: { tools: [] },
});

/** The library refuses in its own words, the guard of the route in those of every route. */
const McpRefusal = component('McpRefusal', z.union([RpcMessage, ErrorAnswer]), {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_700, message: 'Parse error: Invalid JSON-RPC message' },
});

/** Of a message: the library describes each wrong one, and sends all that it has to say. */
const MAX_VALUES = 5000;

/** In a batch one message may call another off, and the library then waits for an answer that never comes. */
const OneMessage = Anything.refine((body) => !Array.isArray(body), 'must be one message, not a batch').refine(
  (body) => !holdsMore(body, MAX_VALUES),
  `has more than ${MAX_VALUES} values`,
);

/** The Model Context Protocol over Streamable HTTP; its tools are some of the other routes. */
export const mcpRoutes = (
  routes: readonly Route[],
  { version, inject }: { version: string; inject: Inject },
): Route[] => {
  const tools = TOOLS.map((entry) => {
    const found = routes.find(({ id }) => id === entry.operation);
    if (!found) throw new Error(`tool ${entry.name} names no operation: ${entry.operation}`);
    return { entry, found };
  });
  let made: ReturnType<typeof toolOf>[] | undefined;
  return [
    route({
      method: 'POST',
      url: '/mcp',
      role: 'viewer',
      id: 'mcp',
      tag: 'service',
      summary:
        'Model Context Protocol (Streamable HTTP, without sessions): tools for assistants, each with the role of its route',
      body: OneMessage,
      described: { body: RpcMessage },
      answers: { 200: RpcMessage, 400: McpRefusal, 406: McpRefusal },
      handler: async ({ request, reply }) => {
        // The library is loaded with the first request for it.
        const { answerMcp } = await import('./server.ts');
        made ??= tools.map(({ entry, found }) => toolOf(entry, found));
        const answer = await answerMcp({ tools: made, inject, version }, request);
        return reply
          .code(answer.status)
          .headers(Object.fromEntries(answer.headers))
          .send(await answer.text());
      },
    }),
  ];
};
