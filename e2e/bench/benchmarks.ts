import type { Benchmark } from './benchmark.ts';
import { branches } from './branches.ts';
import { busyEngine } from './busy-engine.ts';
import { controlPlane } from './control-plane.ts';
import { flood } from './flood.ts';
import { gateway, gatewayStart } from './gateway.ts';
import { idle } from './idle.ts';
import { intake } from './intake.ts';
import { replay } from './replay.ts';
import { restart } from './restart.ts';
import { runs } from './runs.ts';
import { sameKeys } from './same-keys.ts';
import { slowFsync } from './slow-fsync.ts';
import { start } from './start.ts';

/** In the order of the table. A new one is a file and a line here. */
export const BENCHMARKS: readonly Benchmark[] = [
  intake,
  runs,
  slowFsync,
  sameKeys,
  branches,
  busyEngine,
  flood,
  replay,
  restart,
  start,
  idle,
  gateway,
  gatewayStart,
  controlPlane,
];
