import { z } from 'zod';
import { JsonObject, TemplateText } from './fields.ts';

export const Channel = z.enum(['log', 'slack', 'telegram', 'msteams', 'webhook', 'email']);
export type Channel = z.infer<typeof Channel>;

export const Notification = z.strictObject({
  channel: Channel.describe('channel of the message'),
  template: TemplateText.optional().describe('text of the message, a Handlebars template'),
  config: JsonObject.optional().describe("settings of the channel; override the service's"),
});
export type Notification = z.infer<typeof Notification>;

const Messages = z.array(Notification).max(8).optional();

/** Messages by event; for each event a step's list replaces the pipeline's. */
export const Notifications = z.strictObject({
  escalate: Messages.describe('a gate was not passed'),
  abort: Messages.describe('the run was aborted'),
  stop: Messages.describe('an agent answered proceed: false'),
  fail: Messages.describe('the run failed'),
  complete: Messages.describe('the run completed'),
  approval: Messages.describe('an approval is requested'),
});
export type Notifications = z.infer<typeof Notifications>;
