import { closestName } from './closest-name.ts';

const MOST_NAMED = 12;

/** The end of a message about a name that nothing has: `Did you mean a? Available: a, b and 3 more.` */
export function meantOrAvailable(name: string, names: readonly string[]): string {
  const meant = closestName(name, names);
  return `${meant === null ? '' : `Did you mean ${meant}? `}${available(names)}`;
}

/** The end of a message about an unknown name: `Available: a, b and 3 more.` */
export function available(names: readonly string[]): string {
  if (names.length === 0) return 'None is available.';
  const shown = names.toSorted().slice(0, MOST_NAMED).join(', ');
  return `Available: ${shown}${names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''}.`;
}
