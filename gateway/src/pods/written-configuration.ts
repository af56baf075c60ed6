import { hash } from 'node:crypto';
import { isOneFrame } from '../rpc/one-frame.ts';
import { RUNNER_FRAME, type RunnerConfiguration } from '../runner/protocol.ts';

/** What a frame has beside its parameters. */
const ENVELOPE = { bytes: 1000, values: 10 };
const LIMITS = {
  ...RUNNER_FRAME,
  maxFrameBytes: RUNNER_FRAME.maxFrameBytes - ENVELOPE.bytes,
  maxFrameValues: RUNNER_FRAME.maxFrameValues - ENVELOPE.values,
};

/** A configuration as text, which is the same for all pods of an agent. */
export class WrittenConfiguration {
  readonly json: string;
  readonly hash: string;
  private isOneFrame: boolean | null = null;

  constructor(configuration: RunnerConfiguration) {
    this.json = JSON.stringify(configuration);
    this.hash = hash('sha256', this.json);
  }

  /** Counted once, and only where it is sent. */
  fits(): boolean {
    this.isOneFrame ??= isOneFrame(this.json, LIMITS);
    return this.isOneFrame;
  }
}
