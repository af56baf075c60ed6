import { mutantsOf } from './mutant.ts';

const EVIDENCE = 'api-server/src/runs/evidence';
const RUN = 'api-server/src/runs/run';

export const GATE = [
  ...mutantsOf(
    'gate',
    `${EVIDENCE}/gate.ts`,
    `${EVIDENCE}/gate.test.ts`,
    [
      'a trust that equals the threshold fails',
      'const passed = trust >= rule.threshold;',
      'const passed = trust > rule.threshold;',
    ],
    ['a failed check no longer makes the trust 0', 'if (evidence.checksPassed === false) return 0;', ''],
    ['a verifier may raise the confidence', 'Math.min(a, b)', 'Math.max(a, b)'],
    ['grounding counts where it is not enforced', 'return grounding?.enforced ?', 'return grounding ?'],
    [
      'a calibrated value counts where it is not enforced',
      'calibrated?.enforced && calibrated.value !== null',
      'calibrated && calibrated.value !== null',
    ],
    ['a step that is not trusted goes on', "const action = passed ? 'pass' : rule.onLow;", "const action = 'pass';"],
    [
      'a step without a confidence fails its gate',
      "passed: null, action: 'pass', sentence }",
      "passed: false, action: rule?.onLow ?? 'pass', sentence }",
    ],
  ),
  ...mutantsOf(
    'gate',
    `${EVIDENCE}/verify.ts`,
    `${EVIDENCE}/evidence.test.ts`,
    [
      'a veto over its floor still lowers the trust',
      'return score < (verifier.veto_floor ?? VETO_FLOOR) ? score : null;',
      'return score;',
    ],
    [
      'a verifier whose condition fails is not asked',
      'the verifier is asked`, { step_name: name });\n  return true;',
      'the verifier is asked`, { step_name: name });\n  return false;',
    ],
  ),
  ...mutantsOf(
    'gate',
    `${EVIDENCE}/evidence.ts`,
    `${EVIDENCE}/evidence.test.ts`,
    ['one passed check is enough', 'checks.every(({ passed }) => passed)', 'checks.some(({ passed }) => passed)'],
    [
      'a shell check that may not run does not end the run',
      'const aborted = checked.ok ? null : checked.aborted;',
      'const aborted = null;',
    ],
  ),
  ...mutantsOf(
    'gate',
    'api-server/src/runs/group/join.ts',
    'api-server/src/runs/group/groups.test.ts',
    ['a failed branch is left out of a join', '(failed ? 0 : trust)', '(failed ? null : trust)'],
    ['all_must_pass takes the best branch', 'return Math.min(...trusts);', 'return Math.max(...trusts);'],
    ['the weights of a mean are ignored', 'sum + trust * weight, 0) / total', 'sum + trust, 0) / counted.length'],
  ),
];

export const RESUME = [
  ...mutantsOf(
    'resume',
    `${RUN}/resume.ts`,
    `${RUN}/engine.test.ts`,
    [
      'finished steps run again after a restart',
      "const ended = stored.steps.filter(({ status }) => status !== 'running');",
      'const ended: typeof stored.steps = [];',
    ],
    [
      'on_interrupted: escalate goes on',
      "if (on_interrupted === 'escalate' && interrupted !== undefined) {",
      'if (interrupted === null) {',
    ],
    [
      'the step in flight is forgotten, and asked under another key',
      "const inFlight = stored.steps.filter(({ status }) => status === 'running');",
      'const inFlight: typeof stored.steps = [];',
    ],
  ),
  ...mutantsOf(
    'resume',
    `${RUN}/resume.ts`,
    `${RUN}/resume.test.ts`,
    [
      'a run that is too old is resumed',
      'if (maxAge !== undefined && now - triggeredAt > maxAge * 1000) {',
      'if (maxAge === null) {',
    ],
    ['what was spent before the restart is not counted', 'totals: spentBy(stored.steps),', 'totals: spentBy([]),'],
  ),
  ...mutantsOf('resume', `${RUN}/resume.ts`, 'api-server/src/runs/human/human-step.test.ts', [
    'a restart escalates a run that waits for a person',
    "new Set<string>(['human', 'parallel', 'fan_out'])",
    "new Set<string>(['parallel', 'fan_out'])",
  ]),
  ...mutantsOf('resume', `${RUN}/sub-run.ts`, 'api-server/src/runs/group/groups.test.ts', [
    'what a testing run starts counts as production',
    "parent.stage === 'testing' ? 'testing' : pipeline.config.stage",
    'pipeline.config.stage',
  ]),
];
