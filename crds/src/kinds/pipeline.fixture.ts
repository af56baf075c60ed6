import type { Source } from '../resolve/source.ts';

/** A pipeline that uses every key of the language, and what it refers to. */
export const WHOLE_LANGUAGE = `name: whole-language
description: Every key once
version: 3
stage: testing
tags: [sre]
suspend: false
trigger:
  priority: 10
  match: {severity: critical, labels.namespace: {in: [shop, canary]}, alertname: {regex: "^Checkout"}}
  dedup: {enabled: true, window_seconds: 600}
schedule: {cron: "0 6 * * 1-5", timezone: Europe/Berlin, summary: Sweep, severity: info, labels: {service: checkout}, team: payments}
vars: {dashboard: checkout-red, limits: {cpu: 2}}
concurrency: {limit: 2, key: "{{labels.service}}", on_limit: queue}
budget: {max_tokens: 200000, max_cost: 4.0}
durable: {on_interrupted: rerun, max_resume_age_seconds: 3600}
timeout_seconds: 3600
readiness:
  operational: {min_runs: 20}
  confidence: {min_pass_rate: 0.9}
  accuracy: {min_accuracy: 0.85, min_marked: 20}
  calibration: {n_min: 30}
notifications:
  escalate: [{channel: slack, template: "Escalated {{pipeline_name}}: {{summary}}", config: {channel: "#ops"}}]
  complete: [{channel: log}]
steps:
  - {name: triage, use: first-line-triage, confidence_threshold: 0.7, model: anthropic/claude-haiku}
  - name: gather
    when: severity == "critical"
    timeout_seconds: 600
    parallel:
      join: weighted_average
      steps:
        - {name: metrics, executor: gateway, agent: metrics-reader, weight: 2, prompt_template: "Read {{vars.dashboard}}"}
        - {name: changes, executor: external, agent: change-finder, prompt_template: "Deploys of {{labels.service}}?"}
        - {name: known, use: first-line-triage}
  - {name: list-services, executor: gateway, agent: topology, prompt_template: "{{summary}}", output_schema: {type: object, required: [services]}}
  - name: per-service
    fan_out:
      over: steps["list-services"].output.services
      as: service
      max_items: 20
      max_parallel: 4
      on_empty: skip
      join: all_must_pass
      step: {executor: gateway, agent: sre-triage, prompt_template: "{{service}} {{fan_out.index}} of {{fan_out.total}}"}
  - name: investigate
    executor: gateway
    agent: investigator
    prompt_template: "Alert: {{summary}} {{steps.metrics.summary}}"
    confidence_threshold: 0.75
    on_low_confidence: escalate
    timeout_seconds: 300
    retry: {attempts: 3, backoff: exponential, delay_seconds: 2, max_delay_seconds: 30}
    loop_until: {confidence: 0.8, max_iterations: 2}
    verifier: {executor: gateway, agent: reviewer, mode: independent, combination_strategy: veto, veto_floor: 0.4, when: confidence < 0.9}
    grounding: {agent: grounding-judge, enforce: false, timeout_seconds: 120}
    deterministic_checks:
      - {type: webhook, name: still-firing, method: GET, url: "https://am/api?{{labels.service}}", expect: "response.status == 200", timeout_seconds: 30}
      - {type: shell, name: ticket-exists, run: 'test -n "$TICKET"', env: {TICKET: "{{output.ticket}}"}, expect: "exit_code == 0"}
    calibration: {enforce: false, on_uncalibrated: proceed}
    on_failure: {policy: abort, webhook: {url: "\${OPS_HOOK}"}}
    readiness: {calibration: {n_min: 30}}
    notifications: {approval: [{channel: email}]}
  - {name: approve, executor: human, when: 'steps.investigate.output.action == "restart"', timeout_seconds: 900, on_timeout: fail, prompt_template: "Restart?", fields: [{name: replicas, type: integer, default: 2}]}
  - {name: restart, executor: pipeline, pipeline: restart-deployment, context: {team: payments, labels: {service: "{{labels.service}}"}}}
  - {name: close, executor: webhook, url: "\${TICKETS_URL}", method: POST, headers: {X-Run: "{{run_id}}"}, payload: {id: "{{steps.investigate.output.ticket}}"}, on_failure: continue}
`;

export const TRIAGE_STEP: Source = {
  file: 'steps/triage.yaml',
  text: 'name: first-line-triage\ndescription: First look\ntags: [sre]\nexecutor: gateway\nagent: triage\nprompt_template: "Triage {{summary}}"\nmodel: anthropic/claude-sonnet\n',
};

export const RESTART_PIPELINE: Source = {
  file: 'pipelines/restart.yaml',
  text: 'name: restart-deployment\nsteps:\n  - {name: go, executor: webhook, url: "https://k8s/restart"}\n',
};

/** A pipeline with one step, for tests that are about one key. */
export function pipelineWith(
  name: string,
  keys: string,
  step = '{name: a, executor: gateway, agent: x, prompt_template: hi}',
): Source {
  return {
    file: `pipelines/${name}.yaml`,
    text: `name: ${name}\n${keys}${keys === '' ? '' : '\n'}steps:\n  - ${step}\n`,
  };
}
