import { plural } from '../runs/row.ts';

/** How the samples of a batch stand. */
export interface Standing {
  regressed: number;
  improved: number;
  unchanged: number;
  failed: number;
  unreplayable: number;
  /** Candidates without a label. */
  ungraded: number;
  active: boolean;
  graded: 'samples' | 'answers';
  /** What is said where nothing is graded. */
  howToGrade: string;
}

/** The worst news first. */
export function verdictOf(standing: Standing) {
  const { regressed, failed, active, graded: what } = standing;
  const graded = regressed + standing.improved + standing.unchanged;
  const more = alsoOf(standing);
  if (regressed > 0) return bad(`${regressed} of ${graded} graded ${what} regressed`, more);
  if (failed > 0) return bad(`${plural(failed, 'candidate')} failed to answer`, more);
  if (active) return { tone: 'quiet', icon: 'running', title: 'The replay goes on', text: 'This page follows it.' };
  if (graded === 0) return { tone: 'wait', icon: 'alert', title: 'Nothing is graded yet', text: standing.howToGrade };
  return { tone: 'good', icon: 'completed', title: `No graded ${what.slice(0, -1)} regressed`, text: more };
}

const bad = (title: string, text: string) => ({ tone: 'bad', icon: 'failed', title, text });

function alsoOf({ regressed, improved, unchanged, failed, unreplayable, ungraded, active }: Standing): string {
  const also = [
    regressed > 0 && failed > 0 ? `${plural(failed, 'candidate')} failed to answer.` : null,
    improved > 0 ? `${improved} improved.` : null,
    unchanged > 0 ? `${unchanged} unchanged.` : null,
    ungraded > 0 && !active ? `${ungraded} not graded yet: mark them below.` : null,
    unreplayable > 0 ? `${unreplayable} could not be replayed.` : null,
  ];
  return also.filter((text) => text !== null).join(' ');
}
