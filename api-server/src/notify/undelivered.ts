/** Messages of a channel that did not reach it: `waiting` are tried again, `failed` are not. */
export interface Undelivered {
  channel: string;
  state: 'waiting' | 'failed';
  count: number;
}

/** One line for operators, without what the messages say. */
export function warningOf({ channel, state, count }: Undelivered): string {
  const [messages, them] = count === 1 ? ['1 message', 'it'] : [`${count} messages`, 'them'];
  const list = `GET /notifications?status=${state === 'failed' ? 'failed' : 'pending'} lists ${them}`;
  return state === 'failed'
    ? `${messages} could not be delivered to ${channel}; ${list}`
    : `${messages} could not be delivered to ${channel} yet; ${list}`;
}
