import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Assets } from './assets.ts';
import Handlebars from 'handlebars';
import type { Viewer } from '../auth/page-auth.ts';
import { renderFitting } from './fit-model.ts';
import type { PageDeps } from './page-deps.ts';
import { count } from './format.ts';
import { paths, safeReturn } from './paths.ts';
import type { Render } from './render.ts';
import { nextTheme, themeOf } from './theme.ts';

/** What every page's routes are given. */
export interface PageContext {
  deps: PageDeps;
  assets: Assets;
  render: Render;
}

export interface PageOptions {
  title: string;
  /** The active entry of the navigation. */
  nav:
    | 'overview'
    | 'runs'
    | 'approvals'
    | 'deliveries'
    | 'pipelines'
    | 'steps'
    | 'agents'
    | 'tools'
    | 'schedules'
    | 'validate'
    | 'marking'
    | 'insights'
    | 'teams'
    | 'replays'
    | 'golden-sets'
    | 'audit'
    | 'sync'
    | 'docs'
    | null;
  template: string;
  model: object;
  status?: number;
  /** What the address asks for and the page did not understand. */
  ignored?: readonly string[];
}

/** The menu. */
export const RAIL = [
  {
    group: 'Operate',
    entries: [
      { id: 'overview', label: 'Overview', icon: 'overview', href: paths.overview() },
      { id: 'runs', label: 'Runs', icon: 'runs', href: paths.runs() },
      { id: 'approvals', label: 'Approvals', icon: 'approvals', href: paths.approvals() },
      { id: 'deliveries', label: 'Deliveries', icon: 'deliveries', href: paths.deliveries() },
    ],
  },
  {
    group: 'Build',
    entries: [
      { id: 'pipelines', label: 'Pipelines', icon: 'pipelines', href: paths.pipelines() },
      { id: 'steps', label: 'Steps', icon: 'steps', href: paths.steps() },
      { id: 'agents', label: 'Agents', icon: 'agents', href: paths.agents() },
      { id: 'tools', label: 'Tools', icon: 'tool', href: paths.tools() },
      { id: 'schedules', label: 'Schedules', icon: 'schedules', href: paths.schedules() },
      { id: 'validate', label: 'Validate', icon: 'check', href: paths.validate() },
    ],
  },
  {
    group: 'Learn',
    entries: [
      { id: 'insights', label: 'Insights', icon: 'insights', href: paths.insights() },
      { id: 'teams', label: 'Teams', icon: 'team', href: paths.teams() },
      { id: 'marking', label: 'Marking', icon: 'marking', href: paths.marking() },
      { id: 'replays', label: 'Replays', icon: 'replays', href: paths.replays() },
      { id: 'golden-sets', label: 'Golden sets', icon: 'pin', href: paths.goldenSets() },
    ],
  },
  {
    group: 'Govern',
    entries: [
      { id: 'audit', label: 'Audit', icon: 'audit', href: paths.audit() },
      { id: 'sync', label: 'Sync', icon: 'sync', href: paths.sync() },
      { id: 'docs', label: 'API reference', icon: 'file', href: paths.docs() },
    ],
  },
] as const;

/** What the keyboard does; `?` shows it. */
const KEYS = [
  { keys: ['Ctrl', 'K'], does: 'Go to a page, pipeline, step, agent or run' },
  { keys: ['/'], does: 'Search, in the list of this page or in the runs' },
  { keys: ['j', 'k'], does: 'Next and previous row' },
  { keys: ['Enter'], does: 'Open the row' },
  { keys: ['x'], does: 'Choose the row; with Shift and the mouse, all rows between' },
  { keys: ['a'], does: 'Go to the actions for the chosen rows' },
  { keys: ['y', 'n', 'p'], does: 'Mark as correct, incorrect or partial' },
  { keys: ['u'], does: 'Undo a mark, as long as the page says that it is stored' },
  { keys: ['Esc'], does: 'Leave a field, close a dialog' },
  { keys: ['?'], does: 'Show these keys' },
];

/** Entries in the bar of a phone; the others are in "More". */
const ON_PHONES: ReadonlySet<string> = new Set(['overview', 'runs', 'approvals', 'pipelines']);

interface Waiting {
  approvals: number;
  runs: number;
}
const NOTHING: Waiting = { approvals: 0, runs: 0 };

/** What waits for people; a page is shown without it where it cannot be read. */
async function waitingIn({ approvals, escalations }: PageDeps): Promise<Waiting> {
  const [pending, open] = await Promise.all([approvals.countWaiting(), escalations.open()]);
  return { approvals: pending, runs: open };
}

const rail = (nav: PageOptions['nav'], waiting: Waiting) =>
  RAIL.map(({ group, entries }) => ({
    group,
    entries: entries.map((entry) => ({
      ...entry,
      current: entry.id === nav,
      folded: !ON_PHONES.has(entry.id),
      counter: counterOf(entry.id, waiting),
    })),
  }));

/** Null where an entry counts nothing; an empty text where nothing waits, for a live page to fill. */
const counterOf = (id: string, waiting: Waiting): { text: string } | null =>
  id === 'approvals' || id === 'runs' ? { text: waiting[id] === 0 ? '' : count(waiting[id]) } : null;

function moreOf(groups: ReturnType<typeof rail>) {
  const entries = groups.flatMap((group) => group.entries).filter(({ folded }) => folded);
  return { entries, current: entries.some(({ current }) => current) };
}

const ignoredText = (parts: readonly string[]): string | null =>
  parts.length === 0
    ? null
    : `The address has ${parts.slice(0, 5).join(', ')}, which this page does not understand. It shows what the rest asks for.`;

/** The address that the browser used. */
export const originOf = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host}`;

/** Wraps a page's template in the layout and sends it. `viewer` is null on the login page only. */
export async function sendPage(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  page: PageOptions,
): Promise<FastifyReply> {
  const { assets, render, deps } = context;
  const viewer = deps.auth.viewer(request);
  const theme = themeOf(request.cookies);
  const shared = {
    origin: originOf(request),
    csrf: viewer?.csrf ?? '',
    paths: {
      theme: paths.theme(),
      logout: paths.logout(),
      bulk: paths.runsBulk(),
      pipelines: paths.pipelines(),
      validate: paths.validate(),
      marking: paths.marking(),
    },
  };
  const waiting = viewer === null ? NOTHING : await waitingIn(deps).catch(() => NOTHING);
  const groups = rail(page.nav, waiting);
  const waits = waiting.approvals + waiting.runs;
  const body = renderFitting(page.model, (model) => render(page.template, { ...model, ...shared }));
  const html = render('layout', {
    ...shared,
    title: waits === 0 ? page.title : `(${waits}) ${page.title}`,
    theme,
    next: nextTheme(theme),
    here: request.url,
    viewer,
    initial: viewer === null ? '' : viewer.name.slice(0, 1).toUpperCase(),
    rail: groups,
    more: moreOf(groups),
    version: deps.version,
    css: assets.url('app.css'),
    js: assets.url('js/app.js'),
    fonts: assets.url('fonts/inter.woff2'),
    home: paths.overview(),
    search: paths.runs(),
    goto: paths.goto(),
    keys: KEYS,
    ignored: ignoredText(page.ignored ?? []),
    body: new Handlebars.SafeString(body),
  });
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(html);
}

interface WayOn {
  href: string;
  label: string;
  goesOn?: boolean;
}

/** What may go by itself. */
const PASSING: ReadonlySet<number> = new Set([429, 500, 503]);

/** Once more, back to the form, or to the list that the address is of. */
function wayOn({ method, url, headers, host }: FastifyRequest, status: number): WayOn {
  if (method === 'GET' && PASSING.has(status)) return { href: url, label: 'Try again', goesOn: true };
  const from = method === 'GET' ? null : URL.parse(headers.referer ?? '');
  if (from?.host === host && from.pathname.startsWith('/ui/'))
    return { href: safeReturn(from.pathname + from.search), label: 'Back to where you were' };
  const list = RAIL.flatMap(({ entries }) => [...entries]).findLast(({ href }) => url.startsWith(href));
  return list === undefined || list.id === 'overview'
    ? { href: paths.overview(), label: 'Back to the overview' }
    : { href: list.href, label: `Back to ${list.label}` };
}

/** A page that says what went wrong and where to go from here. */
export function sendProblem(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: { status: number; title: string; text: string; action?: WayOn },
): Promise<FastifyReply> {
  const action = problem.action ?? wayOn(request, problem.status);
  return sendPage(context, request, reply, {
    title: problem.title,
    nav: null,
    template: 'problem',
    model: { ...problem, action: { goesOn: false, ...action } },
    status: problem.status,
  });
}

const RANK = { viewer: 0, operator: 1, admin: 2 } as const;
/** Whether the viewer may change definitions. */
export const mayChange = (viewer: Viewer | null): boolean => viewer?.role === 'admin';
export const mayOperate = (viewer: Viewer | null): boolean => viewer !== null && RANK[viewer.role] >= RANK.operator;
