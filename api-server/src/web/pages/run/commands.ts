import { apiPath, type Call } from '../curl.ts';
import type { Confirm } from './confirm.ts';

interface LifeForm {
  acknowledge: string | null;
  resolve: boolean;
  reopen: boolean;
  assignee: string;
}

/** What the page of a run offers; null for what it does not. */
interface Offered {
  attention: { form: LifeForm | null } | null;
  mark: { operator: boolean } | null;
  cancel: Confirm | null;
  rerun: Confirm | null;
  /** Of the chosen step. */
  panel: { name: string; mark: { operator: boolean } | null; rerun: Confirm | null } | null;
}

type Path = (...action: string[]) => string;
type Choice = [offered: unknown, call: Call];

const MARK = { outcome: 'correct' };

/** The actions of the page as requests of the API. */
export function runCommands(id: string, { attention, mark, cancel, rerun, panel }: Offered): Call[] {
  const at: Path = (...action) => apiPath('runs', id, ...action);
  const choices: Choice[] = [
    ...(attention?.form ? lifeChoices(attention.form, at) : []),
    [mark?.operator, { label: 'Mark the run as correct', path: at('feedback'), body: MARK }],
    [cancel, { label: 'Cancel the run', path: at('cancel') }],
    [rerun, { label: 'Rerun from the start', path: at('rerun') }],
    ...(panel ? stepChoices(panel, at) : []),
  ];
  return choices.flatMap(([offered, call]) => (offered ? [call] : []));
}

function lifeChoices({ acknowledge, resolve, reopen, assignee }: LifeForm, at: Path): Choice[] {
  const body = assignee === '' ? undefined : { assignee };
  return [
    [acknowledge, { label: acknowledge ?? '', path: at('acknowledge'), body }],
    [resolve, { label: 'Resolve as a false alarm', path: at('resolve'), body: { resolution: 'false_alarm' } }],
    [reopen, { label: 'Open again', path: at('reopen') }],
  ];
}

const stepChoices = ({ name, mark, rerun }: NonNullable<Offered['panel']>, at: Path): Choice[] => [
  [mark?.operator, { label: `Mark ${name} as correct`, path: at('steps', name, 'feedback'), body: MARK }],
  [rerun, { label: `Rerun from ${name}`, path: at('rerun'), body: { from_step: name } }],
];
