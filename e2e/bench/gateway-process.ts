import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { ROOT } from '../support/start-service.ts';
import { type Measured, startMeasured } from './process.ts';

const TOKENS = { GATEWAY_ADMIN_TOKEN: 'bench-admin-0000000000000', GATEWAY_INVOKE_TOKEN: 'bench-invoke-000000000000' };
export const MAX_RUNS = 200;
const SOUL = 'You read metrics and logs of a shop and say in one sentence what is wrong and what to do about it.';
export const INPUT = 'Alert: error rate of checkout is above 5% since 09:15. Severity: critical. Namespace: shop.';

/** Agents on disk and a configuration whose only provider is the model server; returns how to start a gateway with them. */
export function prepareGateway(directory: string, modelUrl: string, agents = 1): () => Promise<Measured> {
  for (let number = 0; number < agents; number++) writeAgent(join(directory, 'agents'), `agent-${number}`);
  const config = {
    server: { host: '127.0.0.1', port: 0 },
    providers: { instant: { type: 'openai_compatible', base_url: modelUrl, api_key: 'bench-key', default: true } },
    limits: { max_concurrent_runs: MAX_RUNS },
  };
  const configPath = join(directory, 'gateway.yaml');
  writeFileSync(configPath, JSON.stringify(config));
  const args = [join(ROOT, 'gateway', 'start.mjs'), '--config', configPath];
  return () => startMeasured({ name: 'gateway', args, env: TOKENS, logFile: join(directory, 'gateway.log') });
}

function writeAgent(folder: string, name: string): void {
  mkdirSync(join(folder, name), { recursive: true });
  const yaml = `name: ${name}\ndescription: Reads metrics\nmodel: instant/instant\nmax_tokens: 1000\ntags: [bench]\n`;
  writeFileSync(join(folder, name, 'agent.yaml'), yaml);
  writeFileSync(join(folder, name, 'soul.md'), SOUL);
}

export function startRelay(directory: string, modelUrl: string): Promise<Measured> {
  const args = [join(import.meta.dirname, 'relay.ts'), modelUrl];
  return startMeasured({ name: 'relay', args, logFile: join(directory, 'relay.log') });
}

/** One WebSocket that makes any number of `agent.run` calls at a time; each resolves with whether it got an answer. */
export class Caller {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answered: boolean) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: { text: string } };
      if (id === undefined) return;
      this.#waiting.get(id)?.(result !== undefined && result.text.length > 0);
      this.#waiting.delete(id);
    });
    socket.on('close', () => {
      for (const resolve of this.#waiting.values()) resolve(false);
    });
  }

  static async open(url: string): Promise<Caller> {
    const headers = { authorization: `Bearer ${TOKENS.GATEWAY_INVOKE_TOKEN}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc`, { headers, perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return new Caller(socket);
  }

  run(): Promise<boolean> {
    const id = (this.#lastId += 1);
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      const params = { agent: 'agent-0', input: INPUT };
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'agent.run', params }));
    });
  }

  close(): void {
    this.#socket.terminate();
  }
}
