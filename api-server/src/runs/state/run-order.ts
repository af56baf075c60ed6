/** Orders of a list of runs; `-` is descending, and `age` alone, the newest first, needs no sorting. */
export const RUN_ORDERS = ['age', '-age', 'duration', '-duration', 'cost', '-cost', 'trust', '-trust'] as const;
export type RunOrder = (typeof RUN_ORDERS)[number];
