import type { Agent } from 'node:http';

/** An `import` of node:http reads each of its exports, and one of them loads all of `fetch`: 4 MB in every sidecar. */
export const { Agent: HttpAgent, createServer, request: httpRequest } = process.getBuiltinModule('node:http');
export type HttpAgent = Agent;
