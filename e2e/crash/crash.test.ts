import { describe, expect, test } from 'vitest';
import { compileShim } from '../shim/shim.ts';
import { type CrashOptions, runCrashRounds } from './rounds.ts';

/** A short version of `crash.ts`; the fault tests show that it can fail. */
const rounds = (options: Partial<CrashOptions> = {}) => runCrashRounds({ rounds: 5, seed: 7, ...options });

/** The kinds of violations under a fault. What a kill interrupts is a matter of chance, so there are several attempts. */
async function caught(options: Partial<CrashOptions>, wanted: string): Promise<string[]> {
  const kinds = new Set<string>();
  for (const seed of [7, 8, 9]) {
    for (const { kind } of (await rounds({ ...options, seed })).violations) kinds.add(kind);
    if (kinds.has(wanted)) break;
  }
  return [...kinds];
}

describe('a service that is killed under load', () => {
  test('keeps every webhook it accepted and repeats no completed step', async () => {
    const report = await rounds();
    expect(report.violations).toEqual([]);
    expect(report.accepted).toBeGreaterThan(20);
    expect(report.interrupted).toBeGreaterThan(0);
  });

  test('is caught repeating completed steps where it stores them late', async () => {
    expect(await caught({ failpoint: 'step_row_late' }, 'repeated_step')).toContain('repeated_step');
  });
});

const shim = compileShim();
const powerTitle = shim.ok
  ? 'a service whose machine loses power'
  : `a service whose machine loses power (left out: ${shim.reason})`;

describe.runIf(shim.ok)(powerTitle, () => {
  const powerCutWith = shim.ok ? shim.path : undefined;

  test('keeps every webhook it accepted', async () => {
    const report = await rounds({ powerCutWith });
    expect(report.violations).toEqual([]);
    expect(report.accepted).toBeGreaterThan(20);
  });

  test('is caught losing webhooks where commits do not wait for the disk', async () => {
    expect(await caught({ powerCutWith, failpoint: 'synchronous_normal' }, 'lost')).toContain('lost');
  });
});
