import { charsOf } from '../fit-model.ts';
import type { ApprovalLine } from '../../../service/views/approval.ts';
import type { approvalCard } from './card.ts';

type Card = ReturnType<typeof approvalCard>;

/** Characters, as HTML, of the cards that are on a page as a whole, and of the markup of one. */
const ROOM = 100_000;
const MARKUP = 2_500;
/** Cards that are made and have no room after all; then the page tries no further one. */
const MOST_TRIED = 5;

/** What a line says of a question, without its long texts. */
export function leanOf(one: ApprovalLine): ApprovalLine {
  const tool = one.tool && { ...one.tool, input: null };
  return { ...one, question: one.question.slice(0, 2_000), fields: [], tool };
}

/** Cards of one page: those that come first are whole, as many as have room; the others are read on a page of their own. */
export function createRoom() {
  let left = ROOM;
  let tried = 0;
  return (one: ApprovalLine, make: (one: ApprovalLine) => Card): Card & { whole: boolean } => {
    const { question, tool, fields } = one;
    if (tried < MOST_TRIED && JSON.stringify([tool ?? question, fields]).length <= left) {
      const card = make(one);
      const size = MARKUP + charsOf(card, Infinity) + (card.tool?.tree?.markup ?? 0);
      if (size <= left) {
        left -= size;
        return { ...card, whole: true };
      }
      tried += 1;
    }
    return { ...make(leanOf(one)), whole: false };
  };
}
