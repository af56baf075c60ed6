import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ROOT } from './run-command.ts';
import { valuesSchema } from './chart-values-schema.ts';

/** Helm cannot read files outside of a chart, so shared files are copied: folder, ending, folder in the chart. */
const COPIES = [
  ['config/crd', '.yaml', 'charts/signalbox-crds/files'],
  ['config/grafana', '.json', 'charts/signalbox/dashboards'],
] as const;
const NOT_COPIED = new Set(['kustomization.yaml']);

const HEADER = `# Generated from health.lua by \`npm run generate\`. Do not edit.
# kubectl -n argocd patch configmap argocd-cm --patch-file config/argocd/argocd-cm.yaml
`;

/** The same script for each kind, as Argo CD's own ConfigMap wants it. */
function argocdConfigMap(): string {
  const script = readFileSync(join(ROOT, 'config/argocd/health.lua'), 'utf8');
  const kinds = ['Pipeline', 'LibraryStep', 'Agent'];
  const data = Object.fromEntries(
    kinds.map((kind) => [`resource.customizations.health.signalbox.dev_${kind}`, script]),
  );
  return HEADER + stringify({ data }, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Every file for Helm and Argo CD that is made of something else: path below the repository's root -> text. */
export function chartFiles(): Map<string, string> {
  const files = new Map([
    ['charts/signalbox/values.schema.json', valuesSchema()],
    ['config/argocd/argocd-cm.yaml', argocdConfigMap()],
  ]);
  for (const [from, ending, to] of COPIES)
    for (const name of readdirSync(join(ROOT, from)).filter((one) => one.endsWith(ending) && !NOT_COPIED.has(one)))
      files.set(`${to}/${name}`, readFileSync(join(ROOT, from, name), 'utf8'));
  return files;
}
