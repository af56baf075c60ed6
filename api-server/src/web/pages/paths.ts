type Query = Record<string, string | number | boolean | null | undefined>;

/** `path` with the query entries that hold something, in the order given. */
export function withQuery(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '' && value !== false) search.set(key, String(value));
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

const segment = (name: string): string => encodeURIComponent(name);

/** All addresses of the pages. Templates and views take them from here. */
export const paths = {
  login: (back?: string) => withQuery('/ui/login', { next: back }),
  logout: () => '/ui/logout',
  theme: () => '/ui/theme',
  overview: () => '/ui/',
  runs: (query: Query = {}) => withQuery('/ui/runs', query),
  runsNews: (query: Query = {}) => withQuery('/ui/runs/news', query),
  run: (id: string, query: Query = {}) => withQuery(`/ui/runs/${segment(id)}`, query),
  runStream: (id: string) => `/ui/runs/${segment(id)}/stream`,
  runFeedback: (id: string) => `/ui/runs/${segment(id)}/feedback`,
  runRerun: (id: string) => `/ui/runs/${segment(id)}/rerun`,
  runArtifact: (id: string, step: string, name: string) =>
    withQuery(`/ui/runs/${segment(id)}/artifacts`, { step, name }),
  runAttention: (id: string) => `/ui/runs/${segment(id)}/attention`,
  runMessages: (id: string) => `/ui/runs/${segment(id)}/messages`,
  runCancel: (id: string) => `/ui/runs/${segment(id)}/cancel`,
  runsBulk: () => '/ui/runs/bulk',
  runsBulkUndo: () => '/ui/runs/bulk/undo',
  runsViews: () => '/ui/runs/views',
  compareChosen: (ids: readonly string[]) => `/ui/runs/compare?${new URLSearchParams(ids.map((id) => ['run', id]))}`,
  compare: (a: string, b: string, query: Query = {}) =>
    withQuery(`/ui/runs/${segment(a)}/compare/${segment(b)}`, query),
  marking: (query: Query = {}) => withQuery('/ui/marking', query),
  deliveries: (query: Query = {}) => withQuery('/ui/deliveries', query),
  delivery: (id: number) => `/ui/deliveries/${id}`,
  redeliver: (id: number) => `/ui/deliveries/${id}/redeliver`,
  approvals: (query: Query = {}) => withQuery('/ui/approvals', query),
  approval: (id: string) => `/ui/approvals/${segment(id)}`,
  pipelines: (query: Query = {}) => withQuery('/ui/pipelines', query),
  pipeline: (name: string) => `/ui/pipelines/${segment(name)}`,
  pipelineRun: (name: string, query: Query = {}) => withQuery(`/ui/pipelines/${segment(name)}/run`, query),
  pipelineChange: (name: string, change: 'suspend' | 'resume') => `/ui/pipelines/${segment(name)}/${change}`,
  reload: () => '/ui/reload',
  validate: (query: Query = {}) => withQuery('/ui/validate', query),
  steps: (query: Query = {}) => withQuery('/ui/steps', query),
  step: (name: string, query: Query = {}) => withQuery(`/ui/steps/${segment(name)}`, query),
  agents: () => '/ui/agents',
  agent: (name: string) => `/ui/agents/${segment(name)}`,
  tools: () => '/ui/tools',
  schedules: (query: Query = {}) => withQuery('/ui/schedules', query),
  replays: (query: Query = {}) => withQuery('/ui/replays', query),
  replayNew: (query: Query = {}) => withQuery('/ui/replays/new', query),
  replayRange: (query: Query = {}) => withQuery('/ui/replays/range', query),
  replay: (id: string, query: Query = {}) => withQuery(`/ui/replays/${segment(id)}`, query),
  replayExport: (id: string, format: string) => withQuery(`/ui/replays/${segment(id)}/export`, { format }),
  replayCancel: (id: string) => `/ui/replays/${segment(id)}/cancel`,
  goldenSets: () => '/ui/golden-sets',
  goldenSet: (id: string, query: Query = {}) => withQuery(`/ui/golden-sets/${segment(id)}`, query),
  regression: (id: string) => `/ui/regressions/${segment(id)}`,
  goldenSetImport: () => '/ui/golden-sets/import',
  goldenSetExport: (id: string) => `/ui/golden-sets/${segment(id)}/export`,
  goldenSetArchive: (id: string, change: 'archive' | 'restore') => `/ui/golden-sets/${segment(id)}/${change}`,
  goldenMember: (id: string, member: string) => `/ui/golden-sets/${segment(id)}/members/${segment(member)}`,
  goldenPin: (run: string, step: string) => withQuery('/ui/golden-sets/pin', { run, step }),
  exports: (kind: string, query: Query) => withQuery(`/ui/exports/${kind}`, query),
  insights: (query: Query = {}) => withQuery('/ui/insights', query),
  teams: (query: Query = {}) => withQuery('/ui/teams', query),
  goto: () => '/ui/goto',
  docs: (group?: string) => (group === undefined ? '/ui/docs' : `/ui/docs/${segment(group)}`),
  sync: (query: Query = {}) => withQuery('/ui/sync', query),
  audit: (query: Query = {}) => withQuery('/ui/audit', query),
};

/** The address to return to after a form: only a path under `/ui/`, so that it is no open redirect, in signs that a header may have. */
export function safeReturn(path: unknown): string {
  return typeof path === 'string' && /^\/ui\/(?!\/)[!-[\]-~]*$/.test(path) ? path : paths.overview();
}
