import { compileMatch } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import { resolve } from './resolve.ts';

const loaded = (name: string, match: Record<string, unknown> | null): LoadedPipeline =>
  ({ name, match: match && compileMatch(match) }) as unknown as LoadedPipeline;

function snapshot(...pipelines: LoadedPipeline[]): Snapshot {
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]));
  return { pipelines, byName, steps: [], stepsByName: new Map(), problems: [], shown: [], hash: '', loadedAt: 0 };
}

const context = (more: Partial<TriggerContext> = {}): TriggerContext => ({
  source: 'alert_router',
  pipeline: null,
  severity: 'critical',
  labels: { service: 'checkout' },
  annotations: {},
  summary: null,
  fingerprint: null,
  metadata: {},
  raw: null,
  receivedAt: 0,
  ...more,
});
const chosen = (set: Snapshot, asked: TriggerContext, team: string | null = null) => {
  const found = resolve(set, asked, { team, byPerson: false });
  return found.ok ? found.pipeline.name : null;
};

test('the first pipeline in load order whose trigger.match holds wins', () => {
  const special = loaded('special', { service: 'checkout', severity: 'critical' });
  const general = loaded('general', { service: 'checkout' });
  expect(chosen(snapshot(special, general), context())).toBe('special');
  expect(chosen(snapshot(general, special), context())).toBe('general');
  expect(chosen(snapshot(special, general), context({ severity: 'info' }))).toBe('general');
});

test('a context that names its pipeline bypasses matching, and an unknown name does not fall back to it', () => {
  const set = snapshot(loaded('matching', { service: 'checkout' }), loaded('named', null));
  expect(chosen(set, context({ pipeline: 'named' }))).toBe('named');
  expect(chosen(set, context({ pipeline: 'gone' }))).toBeNull();
});

test('a refusal tells a pipeline that nobody wrote from one that is broken, and what to do where nothing matches', () => {
  const problem = { severity: 'error' as const, kind: 'Pipeline' as const, file: 'f.yaml', loc: [], msg: 'bad' };
  const set = { ...snapshot(), problems: [{ ...problem, name: 'broken', reason: 'invalid' as const }] };
  const why = (pipeline: string | null) => {
    const found = resolve(set, context({ pipeline }), { team: null, byPerson: false });
    return found.ok ? '' : found.message;
  };
  expect(why('gone')).toBe('no pipeline is named "gone"');
  expect(why('broken')).toBe('pipeline "broken" did not load; GET /definitions says why');
  expect(why(null)).toMatch(/^no pipeline matches this delivery; .*dry_run=true/);
});

test('a pipeline without a match is never chosen by matching', () => {
  expect(chosen(snapshot(loaded('plain', null)), context())).toBeNull();
});

test('a match may ask for the team of the token', () => {
  const set = snapshot(loaded('theirs', { team: 'shop' }));
  expect(chosen(set, context(), 'shop')).toBe('theirs');
  expect(chosen(set, context(), null)).toBeNull();
});
