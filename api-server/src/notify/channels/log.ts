import { z } from 'zod';
import type { ChannelSettings } from '../../config/notifications-schema.ts';
import type { Channel } from '../channel.ts';
import { plainText } from '../fit.ts';
import { ownProblem, settle } from '../own-config.ts';

const OwnConfig = z.strictObject({ level: z.enum(['info', 'warn']).optional() });

/** A line of the service's log; also where a testing pipeline's messages go. */
export const log: Channel<ChannelSettings['log']> = {
  problem: (own) => ownProblem(OwnConfig, own),
  prepare: (written) => {
    const settled = settle(OwnConfig, written);
    if (!settled.ok) return settled;
    return {
      ok: true,
      target: 'log',
      secrets: [],
      send: ({ id, message, insteadOf }, io) => {
        const { event, runId, pipeline, stage, status, url } = message;
        const fields = {
          notification_id: id,
          event,
          run_id: runId,
          pipeline,
          stage,
          status,
          url,
          text: plainText(message),
        };
        io.log[settled.config.level ?? 'info'](
          insteadOf === null ? fields : { ...fields, instead_of: insteadOf },
          'notification',
        );
        return Promise.resolve({ ok: true });
      },
    };
  },
};
