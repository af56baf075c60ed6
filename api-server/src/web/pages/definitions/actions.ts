import type { ManagedBy, Snapshot } from '../../../service/definitions/definitions.ts';
import { apiPath } from '../curl.ts';
import { paths } from '../paths.ts';

interface Standing {
  /** Null for a definition that may be changed here. */
  owner: ManagedBy | null;
  operator: boolean;
  admin: boolean;
}

/** What the viewer may do with a pipeline. */
export function pipelineActions({ name, config }: Snapshot['pipelines'][number], { owner, operator, admin }: Standing) {
  const editable = admin && owner === null;
  return {
    run: operator ? paths.pipelineRun(name) : null,
    /** While it is suspended, its form shows what would happen and starts nothing. */
    starts: !config.suspend,
    commands: [
      config.suspend
        ? { label: 'Resume', path: apiPath('pipelines', name, 'resume') }
        : { label: 'Suspend', path: apiPath('pipelines', name, 'suspend') },
    ],
    change: editable ? changeOf(name, config.suspend) : null,
    edit: editable ? paths.validate({ pipeline: name }) : null,
    managed:
      owner &&
      `Read-only here: ${objectName(owner)} manages this pipeline. Change it there, or in the Git repository that it comes from.`,
    syncPath: paths.sync(),
  };
}

const objectName = ({ object }: ManagedBy): string =>
  object === null ? 'a custom resource' : `${object.kind} ${object.namespace}/${object.name}`;

const changeOf = (name: string, suspended: boolean) =>
  suspended
    ? {
        label: 'Resume',
        icon: 'replays',
        action: paths.pipelineChange(name, 'resume'),
        effect: 'Alerts and the schedule start runs of this pipeline again. Writes suspend: false to its file.',
        yes: 'Resume this pipeline',
      }
    : {
        label: 'Suspend',
        icon: 'waiting',
        action: paths.pipelineChange(name, 'suspend'),
        effect:
          'No new run of this pipeline starts until it is resumed; running ones go on. Writes suspend: true to its file.',
        yes: 'Suspend this pipeline',
      };
