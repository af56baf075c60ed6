import { z } from 'zod';
import { JsonObject, TemplateText } from './fields.ts';

export const Channel = z.enum(['log', 'slack', 'telegram', 'msteams', 'webhook', 'email']);
export type Channel = z.infer<typeof Channel>;

export const Notification = z.strictObject({
  channel: Channel.describe('where the message goes'),
  template: TemplateText.optional().describe('Handlebars text of the message'),
  config: JsonObject.optional().describe("the channel's own settings, over the service's"),
});
export type Notification = z.infer<typeof Notification>;

const Messages = z.array(Notification).max(8).optional();

/** What is said when; a step's own list wins over the pipeline's, event by event (Design 5). */
export const Notifications = z.strictObject({
  escalate: Messages.describe('a gate was not passed'),
  abort: Messages.describe('the run was aborted'),
  stop: Messages.describe('an agent answered proceed: false'),
  fail: Messages.describe('the run failed'),
  complete: Messages.describe('the run completed'),
  approval: Messages.describe('a human is asked'),
});
export type Notifications = z.infer<typeof Notifications>;
