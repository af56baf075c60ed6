import type { Pipeline } from '@signalbox/crds';
import type { RegressionEntry } from '../config/config.ts';
import type { NotificationsBlock } from '../config/notifications-schema.ts';
import type { PipelineEnv } from '../runs/prompt/rendering.ts';
import { type Channel, type Prepared, type Unusable, unusable } from './channel.ts';
import { channels } from './channels/index.ts';
import { chooseMessages } from './choose.ts';
import type { ChannelName, Notification } from './message.ts';
import { receiversNamed, refusalOf } from './receivers.ts';
import { settingsOf } from './routes.ts';

export interface PrepareDeps {
  settings: NotificationsBlock;
  regressions: readonly RegressionEntry[];
  env: Pick<PipelineEnv, 'valueOf'>;
  /** The definition that a run began with. */
  definitionOf(runId: string): Promise<Pipeline | null>;
  /** Rooms and addresses that the author of a run may name; null for any. */
  receiversOf(author: Pick<Notification, 'pipeline' | 'runId'>): Promise<readonly string[] | null>;
}

type Own = { ok: true; own: Record<string, unknown>; byOperator: boolean } | Unusable;

/** Finds the config of one notification now, not when it was stored: no secret waits in a table, a changed one holds at once. */
export async function prepare(
  deps: PrepareDeps,
  notification: Notification,
  channel: ChannelName,
): Promise<Prepared | Unusable> {
  const found = await ownConfig(deps, notification);
  if (!found.ok) return found;
  const { own, byOperator } = found;
  const operator = settingsOf(deps.settings, channel);
  const named = byOperator ? [] : receiversNamed(channel, own, operator);
  const refusal = named.length === 0 ? null : refusalOf(named, await deps.receiversOf(notification));
  if (refusal !== null) return unusable(refusal);
  return (channels[channel] as Channel<unknown>).prepare({ operator, own, byOperator });
}

/** What a message itself says about its channel, by whichever hand wrote it. */
export async function ownConfig(
  { settings, regressions, env, definitionOf }: Omit<PrepareDeps, 'receiversOf'>,
  { source, runId, message }: Pick<Notification, 'source' | 'runId' | 'message'>,
): Promise<Own> {
  switch (source.from) {
    case 'operator':
      return { ok: true, own: {}, byOperator: true };
    case 'route': {
      const route = Object.hasOwn(settings.routes, source.team) ? settings.routes[source.team] : undefined;
      if (!route) return unusable(`notifications.routes.${source.team} is gone`);
      return { ok: true, own: route.config, byOperator: true };
    }
    case 'regression':
      return ofEntry(regressions, source.goldenSet);
    case 'fallback':
      return settings.fallback
        ? { ok: true, own: settings.fallback.config, byOperator: true }
        : unusable('notifications.fallback is gone');
    case 'definition': {
      const pipeline = runId === null ? null : await definitionOf(runId);
      const written = pipeline && chooseMessages(pipeline, source.step, message.event)[source.index];
      if (!written) return unusable('the definition of the run is gone');
      return expandAll(written.config ?? {}, env);
    }
    default:
      return source satisfies never;
  }
}

function ofEntry(regressions: readonly RegressionEntry[], name: string): Own {
  const entry = regressions.find(({ goldenSet }) => goldenSet === name);
  if (!entry) return unusable(`replay.regression has no entry for ${name} any more`);
  return { ok: true, own: entry.notify?.config ?? {}, byOperator: true };
}

const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Puts the operator's values into every string of an author's config, for names on `security.pipeline_env` only. */
function expandAll(config: Record<string, unknown>, env: Pick<PipelineEnv, 'valueOf'>): Own {
  let refused: string | null = null;
  const expand = (value: unknown): unknown => {
    if (typeof value === 'string') {
      return value.replaceAll(PLACEHOLDER, (_, name: string) => {
        const found = env.valueOf(name);
        if (found === undefined) refused ??= name;
        return found ?? '';
      });
    }
    if (Array.isArray(value)) return value.map(expand);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, expand(entry)]));
  };
  const own = expand(config) as Record<string, unknown>;
  return refused === null
    ? { ok: true, own, byOperator: false }
    : unusable(`\${${refused as string}} is not listed in security.pipeline_env`);
}
