import { valuesIn } from '@signalbox/crds';
import type { StepRow } from './step-row.ts';

/** How the answer of a fan-out begins. */
const BEGIN = '{"items":[';

/** Of the lists that are read with one run, in characters, each value and each name in them as 44 more. */
const LISTS_SIZE = 1024 * 1024;
const VALUE_SIZE = 44;

type WithAnswer = Pick<StepRow, 'raw_response'>;

/** Rows of one run as they are read together: a list of a fan-out for which there is no room is left out, and not parsed. */
export function roomForLists(size = LISTS_SIZE): <Row extends WithAnswer>(row: Row) => Row {
  let left = size;
  return (row) => {
    const json = row.raw_response;
    if (!json?.startsWith(BEGIN)) return row;
    const end = endOfList(json, BEGIN.length);
    const takes = end + VALUE_SIZE * valuesIn(json.slice(0, end), true);
    if (takes > left) return { ...row, raw_response: `{${json.slice(end).replace(/^,/, '')}` };
    left -= takes;
    return row;
  };
}

/** The place after the list of which the first value is at `begin`. */
function endOfList(json: string, begin: number): number {
  let depth = 1;
  let inString = false;
  for (let at = begin; at < json.length; at++) {
    const sign = json[at];
    if (sign === '"') inString = !inString;
    else if (inString) at += sign === '\\' ? 1 : 0;
    else if (sign === '[') depth += 1;
    else if (sign === ']' && --depth === 0) return at + 1;
  }
  return json.length;
}
