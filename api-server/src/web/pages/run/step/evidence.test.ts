import { expect, test } from 'vitest';
import { stepDetail, trustReport } from '../../fixtures/runs.ts';
import { evidenceView } from './evidence.ts';

test('all signals share one axis with the threshold', () => {
  const view = evidenceView(stepDetail());
  expect(view).toMatchObject({
    verdict: { word: 'Passed the gate', tone: 'good' },
    trust: { value: '0.86', width: '86.00%' },
    threshold: { value: '0.75', x: '75.00%' },
  });
  expect(view.signals.map(({ label, value, shadow }) => [label, value, shadow])).toEqual([
    ['Confidence', '0.91', false],
    ['Verifier', '0.86', false],
    ['Grounding', '0.70', true],
    ['Checks', '1/1', false],
  ]);
});

test.each([
  ['escalate', 'escalated'],
  ['abort', 'bad'],
  ['proceed', 'quiet'],
] as const)('a gate that was not passed with %s reads %s', (action, tone) => {
  expect(evidenceView(stepDetail({ trust_report: trustReport({ passed: false, action }) })).verdict.tone).toBe(tone);
});

test('each signal says what it came from', () => {
  const opinion = { summary: null, input_tokens: null, output_tokens: null, score: 0.86, provider: 'anthropic' };
  const step = stepDetail({
    raw_response: {
      verifier: { agent: 'reviewer', model: 'claude-sonnet', ...opinion },
      grounding: {
        agent: 'judge',
        model: 'claude-haiku',
        ...opinion,
        sources: ['the prompt', '2 results of metrics/query_range'],
      },
    },
    trust_report: trustReport({
      signals: [
        { signal: 'confidence', value: 0.91, enforced: true },
        { signal: 'verifier', value: 0.86, enforced: true },
        { signal: 'calibration', value: 0.8, enforced: false },
        { signal: 'grounding', value: 0.7, enforced: true },
        { signal: 'checks', value: 0, enforced: true },
      ],
    }),
    checks: [
      { name: 'still-firing', type: 'webhook', passed: false, detail: '', duration_seconds: 0 },
      { name: 'ticket', type: 'shell', passed: true, detail: '', duration_seconds: 0 },
    ],
  });
  expect(evidenceView(step).notes.map(({ label, text }) => `${label}: ${text}`)).toEqual([
    'Confidence: first-line-triage on claude-haiku (anthropic), version 51f0aa2be9c1',
    'Verifier: reviewer on claude-sonnet (anthropic)',
    'Calibrated: marked outcomes of agent first-line-triage, model claude-haiku, prompt 9c1be2f04a7d, version 51f0aa2be9c1; recorded only, changes nothing',
    'Grounding: judge on claude-haiku (anthropic), against the prompt, 2 results of metrics/query_range',
    'Checks: failed: still-firing (webhook); 1 other passed',
  ]);
});

test('where all checks failed, none is said to have passed', () => {
  const checks = [{ name: 'up', type: 'webhook', passed: false, detail: '', duration_seconds: 0 } as const];
  const signals = [{ signal: 'checks', value: 0, enforced: true } as const];
  const { notes } = evidenceView(stepDetail({ checks, trust_report: trustReport({ signals }) }));
  expect(notes.find(({ label }) => label === 'Checks')?.text).toBe('failed: up (webhook)');
});

test.each([
  ['human', 'the decision of a person'],
  ['pipeline', 'the last gate of the sub-run'],
  ['fan_out', 'the trust of its branches'],
] as const)('the confidence of a %s step comes from %s', (executor, source) => {
  expect(evidenceView(stepDetail({ executor })).notes[0]).toEqual({ label: 'Confidence', text: source });
});

test('a step that says no confidence has no bar for it', () => {
  const signals = [{ signal: 'confidence', value: null, enforced: true } as const];
  const report = trustReport({ trust: null, threshold: null, passed: null, signals });
  expect(evidenceView(stepDetail({ executor: 'webhook', trust_report: report }))).toMatchObject({ known: false });
});

test('a failed webhook shows its method, its address, its status and every attempt', () => {
  const at = { started_at: '2026-11-21T11:55:00.000Z', ended_at: '2026-11-21T11:55:01.000Z', iteration: 1 };
  const request = { method: 'POST', url: 'https://hooks.example/***', status: 503 };
  const { requests } = evidenceView(
    stepDetail({
      executor: 'webhook',
      trust_report: null,
      raw_response: {
        parts: [
          { part: 'attempt', attempt: 1, ...at, request, error: 'webhook_status: the webhook answered 503' },
          { part: 'pause', attempt: 2, ...at },
          { part: 'attempt', attempt: 2, ...at, request: { ...request, status: null }, error: 'network: refused' },
          { part: 'failure_webhook', attempt: 2, ...at, request: { ...request, status: 200 } },
        ],
      },
    }),
  );
  expect(requests.map(({ name, request: sent, why, look }) => [name, sent, why, look.word])).toEqual([
    ['Attempt 1', 'POST https://hooks.example/*** answered 503', '', 'Failed'],
    ['Attempt 2', 'POST https://hooks.example/*** got no answer', 'network: refused', 'Failed'],
    ['on_failure.webhook', 'POST https://hooks.example/*** answered 200', '', 'OK'],
  ]);
});

test('a webhook check shows what it sent', () => {
  const request = { method: 'GET', url: 'https://a.example/', status: 500 };
  const check = { name: 'up', type: 'webhook', passed: false, detail: '', duration_seconds: 0.1, request } as const;
  expect(evidenceView(stepDetail({ checks: [check] })).checks[0]).toMatchObject({
    request: 'GET https://a.example/ answered 500',
  });
});
