import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from './start-control-plane.ts';

/** The API server without a kubectl process for every request: for many objects, and where time is measured. */
export interface KubeClient {
  send(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  /** Creates all, many at a time; throws where one is refused. */
  createAll(objects: readonly object[]): Promise<void>;
  close(): void;
}

export const pathOf = (plural: string, name = '', namespace = 'default'): string =>
  `/apis/signalbox.dev/v1alpha1/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`;

const AT_ONCE = 24;

export function kubeClient({ server, kubeconfig, caFile }: ControlPlane): KubeClient {
  const { users } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { users: { user: { token: string } }[] };
  const authorization = `Bearer ${users[0]?.user.token}`;
  const agent = new Agent({ keepAlive: true, ca: readFileSync(caFile), maxSockets: AT_ONCE });
  const send: KubeClient['send'] = async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(`${server}${path}`, { method, agent, headers: { authorization, 'content-type': type } });
      sent.once('error', reject).once('response', resolve);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
    return { status: answer.statusCode ?? 0, body: JSON.parse(await text(answer)) };
  };
  return {
    send,
    createAll: async (objects) => {
      const waiting = objects.values();
      const work = async () => {
        for (const object of waiting) {
          const { kind } = object as { kind: string };
          const { status, body } = await send('POST', pathOf(`${kind.toLowerCase()}s`), object);
          if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    },
    close: () => agent.destroy(),
  };
}

/** A pipeline of three steps as people write them, about 700 bytes. */
export const samplePipeline = (name: string, marker = 'first') => ({
  apiVersion: 'signalbox.dev/v1alpha1',
  kind: 'Pipeline',
  metadata: { name },
  spec: {
    description: `What ${name} is for, ${marker}`,
    stage: 'production',
    tags: ['sre', 'checkout'],
    trigger: {
      match: {
        severity: 'critical',
        'labels.namespace': { in: ['shop', 'canary'] },
        alertname: { regex: `^${name}$` },
      },
      dedup: { enabled: true, window_seconds: 600 },
    },
    steps: [
      {
        name: 'triage',
        executor: 'gateway',
        agent: 'sre-triage',
        prompt_template: 'Alert: {{summary}} on {{service}}',
      },
      {
        name: 'investigate',
        executor: 'gateway',
        agent: 'investigator',
        prompt_template:
          'Alert: {{summary}}\nTriage: {{steps.triage.summary}}\nWhat is the cause, and what would you do?',
        when: 'steps.triage.confidence > 0.5',
        confidence_threshold: 0.75,
        retry: { attempts: 3 },
      },
      { name: 'approve', executor: 'human', prompt_template: 'Restart {{service}}?', timeout_seconds: 900 },
    ],
  },
});
