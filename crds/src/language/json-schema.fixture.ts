/** 2.5 KB whose compilation or validation takes 2^40 steps: each of 40 definitions is made of two of the next. */
export const HOSTILE_SCHEMA = JSON.stringify({
  $ref: '#/$defs/n0',
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/n${index + 1}` };
      return [`n${index}`, index === 39 ? { type: 'string' } : { anyOf: [next, next] }];
    }),
  ),
});
