import {
  isFanOut,
  isParallel,
  type Notifications,
  type Pipeline,
  type Problem,
  type ResolvedPipeline,
  type Step,
} from '@signalbox/crds';
import { channels } from './channels/index.ts';

type Loc = (string | number)[];
interface Place {
  value: Notifications | undefined;
  loc: Loc;
}

/** Message configs that their channel will not take, as warnings at load: who reads them at night reads them too late. */
export function notificationProblems({ name, file, config }: ResolvedPipeline): Problem[] {
  return places(config).flatMap(({ value, loc }) =>
    Object.entries(value ?? {}).flatMap(([event, messages]) =>
      (messages ?? []).flatMap(({ channel, config: own = {} }, index): Problem[] => {
        const msg = channels[channel].problem(own);
        if (msg === null) return [];
        return [
          {
            severity: 'warning',
            kind: 'Pipeline',
            name,
            file,
            loc: [...loc, event, index, 'config'],
            msg: `${channel}: ${msg}`,
            reason: 'invalid',
          },
        ];
      }),
    ),
  );
}

const places = ({ notifications, steps }: Pipeline): Place[] => [
  { value: notifications, loc: ['notifications'] },
  ...steps.flatMap((step, index) => stepPlaces(step, ['steps', index])),
];

function stepPlaces(step: Step, loc: Loc): Place[] {
  const own: Place = { value: step.notifications, loc: [...loc, 'notifications'] };
  if (isParallel(step)) {
    return [
      own,
      ...step.parallel.steps.map(({ notifications }, at) => ({
        value: notifications,
        loc: [...loc, 'parallel', 'steps', at, 'notifications'],
      })),
    ];
  }
  if (isFanOut(step))
    return [own, { value: step.fan_out.step.notifications, loc: [...loc, 'fan_out', 'step', 'notifications'] }];
  return [own];
}
