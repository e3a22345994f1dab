import type { OverrideOptions } from './override-options.ts';

/** The command line of `eval`. */
export type EvalOptions = OverrideOptions & {
  readonly skill?: string;
  readonly pack?: string;
  readonly split?: 'train' | 'selection' | 'test';
  /** Tasks. */
  readonly limit?: number;
  readonly repeat?: number;
  readonly withoutSkill?: boolean;
  readonly vs?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly keyEnv?: string;
  readonly backend?: string;
  readonly agent?: string;
  readonly workers?: number;
  readonly limitRollouts?: number;
  readonly limitMinutes?: number;
  readonly limitUsd?: number;
  readonly limitTokens?: number;
  readonly out?: string;
  readonly allowUnsandboxed?: boolean;
  /** No questions. */
  readonly yes?: boolean;
  readonly plain?: boolean;
  /** Waits for the reset of a login's used-up window. */
  readonly waitForReset?: boolean;
  /** The exit code tells whether the skill wins. */
  readonly exitCode?: boolean;
};
