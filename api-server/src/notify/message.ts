import type { Channel as ChannelName, Notifications } from '@signalbox/crds';
import type { Stage } from '../runs/state/model.ts';

export type { ChannelName };
/** What a pipeline announces, a reminder of it, and the replay of a golden set by its schedule. */
export type NotificationEvent = keyof Notifications | 'remind' | 'regression';

/** The words of a regression's template (Orchestration 4.6); null where a figure is not known. */
export interface RegressionFacts {
  golden_set: string;
  n_regressed: number | null;
  n_members: number;
  fresh_accuracy: number | null;
  /** Without `server.public_url` the path of the page. */
  report_url: string;
}

/**
 * A piece of a text. `author` stands in the definition as it is and may hold a channel's markup; `value` came from an alert
 * or an agent and `strong` is to stand out: both are escaped by the channel that sends them.
 */
export interface Segment {
  kind: 'author' | 'value' | 'strong';
  text: string;
}

/** An answer a chat can give with one touch; `value` is at most 64 bytes (the least that a chat takes). */
export interface Button {
  label: string;
  value: string;
  style: 'primary' | 'danger' | 'plain';
}

/** A message before a channel formats it, without secrets. Times are ISO 8601. */
export interface Message {
  event: NotificationEvent;
  at: string;
  pipeline: string;
  runId: string | null;
  /** Null while the run goes on. */
  status: string | null;
  team: string | null;
  stage: Stage;
  severity: string | null;
  summary: string | null;
  step: string | null;
  reason: string | null;
  trust: number | null;
  threshold: number | null;
  /** The page of the run; null without `server.public_url`. */
  url: string | null;
  text: Segment[];
  /** Shown under the text; null where the author's template says all that is to be said. */
  link: string | null;
  buttons: Button[];
  /** Of a reminder: how long after it the next one is due. */
  repeatMs?: number;
  /** Of a scheduled replay only. */
  regression?: RegressionFacts;
}

/** Where the channel's config is found when a message is sent; the config itself is never stored with it. */
export type ConfigSource =
  /** `notifications` of the run's own definition: the message with this index of the list that `step` chose. */
  | { from: 'definition'; step: string | null; index: number }
  /** `notifications.routes` of the service's configuration. */
  | { from: 'route'; team: string }
  /** `replay.regression` of the service's configuration: the entry of this golden set. */
  | { from: 'regression'; goldenSet: string }
  /** The channel's own block of the service's configuration and nothing else. */
  | { from: 'operator' }
  /** `notifications.fallback` of the service's configuration. */
  | { from: 'fallback' };

/** One message on its way to one channel; the id is the same at every try and after every restart. */
export interface Notification {
  id: string;
  runId: string | null;
  pipeline: string;
  stage: Stage;
  event: NotificationEvent;
  channel: ChannelName;
  /** The channel that was meant, where a testing pipeline's message goes to the log. */
  insteadOf: ChannelName | null;
  source: ConfigSource;
  message: Message;
  /** Milliseconds. */
  createdAt: number;
}
