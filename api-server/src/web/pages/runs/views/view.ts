import { paths } from '../../paths.ts';
import { addressOf, type Filters } from '../filters/filters.ts';
import { canonical, type SavedView } from './saved.ts';

/** A view of the service's configuration; the team is null for one of everybody. */
export interface TeamView {
  team: string | null;
  name: string;
  filters: Readonly<Record<string, string>>;
}

const ALWAYS: TeamView[] = [
  { team: null, name: 'All runs', filters: {} },
  { team: null, name: 'Open', filters: { attention: 'open' } },
  { team: null, name: 'Failed in 24 hours', filters: { status: 'failed,aborted', last: '24h' } },
];

interface Shown {
  filters: Filters;
  teams: readonly TeamView[];
  own: readonly SavedView[];
}

/** The named views above the list, and the form that names the present one. */
export function viewsView({ filters, teams, own }: Shown) {
  const here = addressOf(filters);
  const given = [...ALWAYS, ...teams].map(({ team, name, filters: set }) => {
    const query = new URLSearchParams(set).toString();
    return { name, team, href: paths.runs(set), current: canonical(query) === here, own: false };
  });
  const saved = own.map(({ name, query }) => ({
    name,
    team: null,
    href: `${paths.runs()}?${query}`,
    current: query === here,
    own: true,
  }));
  const all = [...given, ...saved];
  return {
    all,
    action: paths.runsViews(),
    here,
    /** A list that has a name needs no other. */
    canSave: here !== '' && !all.some(({ current }) => current),
  };
}
