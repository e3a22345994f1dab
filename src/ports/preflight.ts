/** One thing found before anything is spent. */
export type Finding = {
  readonly level: 'ok' | 'warning' | 'error';
  /** What was looked at and what was found. */
  readonly what: string;
  readonly where: string;
  /** Empty for `ok`. */
  readonly fix: string;
};

/** Each backend, agent and provider looks before it runs; `cli/` gathers. */
export interface Preflight {
  preflight(): Promise<readonly Finding[]>;
}
