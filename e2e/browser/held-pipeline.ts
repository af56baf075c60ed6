import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A pipeline whose second step waits for the test: its webhook is answered when `release` is called. */
export interface HeldPipeline {
  /** Directory of the definition, for `pipeline_config_dir`. */
  dir: string;
  name: string;
  /** Resolves once a call waits. */
  reached(): Promise<void>;
  /** Answers the call that has waited longest, once there is one. */
  release(): Promise<void>;
  close(): void;
}

const definition = (name: string, port: number) => `name: ${name}
description: Measures the machine, then reports to the test
stage: production
trigger: { match: { alertname: NeverMatched } }
readiness: { operational: { min_runs: 1 }, accuracy: {} }
steps:
  - name: observe
    use: read-machine
  - name: report
    executor: webhook
    url: http://127.0.0.1:${port}/report
    payload: { finding: "{{steps.observe.summary}}" }
    timeout_seconds: 60
`;

export async function holdPipeline(root: string): Promise<HeldPipeline> {
  const waiting: ServerResponse[] = [];
  let arrived = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    waiting.push(response);
    arrived.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dir = join(root, 'pipelines');
  mkdirSync(dir);
  writeFileSync(join(dir, 'held.yaml'), definition('held', (server.address() as AddressInfo).port));
  return {
    dir,
    name: 'held',
    reached: () => arrived.promise,
    release: async () => {
      await arrived.promise;
      waiting.shift()?.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
      if (waiting.length === 0) arrived = Promise.withResolvers<void>();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
