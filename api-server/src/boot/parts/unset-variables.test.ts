import { type ResolvedPipeline, resolveSet } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { createPipelineEnv } from '../../config/pipeline-env.ts';
import { unsetVariables } from './unset-variables.ts';

const TEXT = `name: deploy-check
steps:
  - {name: look, executor: gateway, agent: a, prompt_template: "not \${REPORT_URL} here"}
  - name: report
    executor: webhook
    url: "\${REPORT_URL}/x"
    headers: {authorization: "Bearer \${TOKEN}"}
    payload: {also: "\${SET} \${REPORT_URL}"}
`;
const pipeline = resolveSet({ pipelines: [{ file: 'a.yaml', text: TEXT }], steps: [] })
  .pipelines[0] as ResolvedPipeline;

test('a variable that is listed and not set is named, with the place that reads it', () => {
  const env = createPipelineEnv(['REPORT_URL', 'SET', 'TOKEN'], { SET: 'x', TOKEN: '' });
  const found = [...unsetVariables(pipeline, env)].map(({ severity, loc, msg }) => [
    severity,
    loc.join('.'),
    msg.split(' ')[0],
  ]);
  expect(found).toEqual([
    ['warning', 'steps.1.url', '${REPORT_URL}'],
    ['warning', 'steps.1.headers.authorization', '${TOKEN}'],
    ['warning', 'steps.1.payload.also', '${REPORT_URL}'],
  ]);
});

test('nothing is said where all are set, nor of one that is not listed: that has a warning of its own', () => {
  const env = createPipelineEnv(['REPORT_URL', 'SET'], { REPORT_URL: 'http://x', SET: 'x' });
  expect([...unsetVariables(pipeline, env)]).toEqual([]);
});
