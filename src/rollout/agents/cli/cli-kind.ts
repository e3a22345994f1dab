import type { AgentLimits } from '../../../config/agent.ts';
import type { Protocol } from '../../../ports/gateway.ts';
import type { Reading } from '../../../ports/outcome.ts';
import type { TrajectoryStep } from '../../../ports/trajectory.ts';
import type { Usage } from '../../../ports/usage.ts';
import type { AgentModel, SkillMount } from '../agent.ts';

/** What a coding agent is started with in one rollout. Paths are as its processes see them. */
export type CliSeat = {
  readonly workspace: string;
  readonly home: string;
  readonly temp: string;
  readonly logDir: string;
  /** Name of the mounted skill; null = none. */
  readonly skillName: string | null;
  /** Null: it is let in by its own login. */
  readonly model: AgentModel | null;
  /** Of what the agent speaks, the first API that the model answers in; null without a model. */
  readonly protocol: Protocol | null;
  /** The model's name where it is let in by its own login; null = the agent's own choice. */
  readonly modelName: string | null;
  /** The same as `provider/model`. */
  readonly modelId: string | null;
  /** Most turns or requests, for agents that have such a switch; null = none. */
  readonly maxTurns: number | null;
  readonly maxUsd: number | null;
  readonly timeoutMs: number;
  /** Its processes run as root with no walls around them, which some agents refuse unless they are told that it is meant. */
  readonly asRoot?: boolean;
  /** What is wanted beside the skill: each kind writes it in its own form. */
  readonly mcp: Readonly<Record<string, McpLaunch>>;
};

/** An MCP server as an agent's config names it; `env` has values of what the rollout's environment holds by these names. */
export type McpLaunch =
  | { readonly kind: 'stdio'; readonly command: readonly string[]; readonly env: readonly string[] }
  | { readonly kind: 'http'; readonly url: string };

/** How a coding agent is started: the instruction goes to its stdin. */
export type CliLaunch = {
  /** Arguments behind the program. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files written before the start, by path below the home. */
  readonly homeFiles: Readonly<Record<string, string>>;
};

/** What an agent's process wrote, whole or as far as it came. */
export type CliOutput = {
  readonly stdout: string;
  readonly stderr: string;
  /** Null = no skill was mounted. */
  readonly skillName: string | null;
};

/** What kept an agent from its end, by its own account. `limit` = a turn or budget limit of its own. */
export type CliTrouble = {
  readonly kind: 'auth' | 'quota' | 'rate-limit' | 'provider' | 'model-not-found' | 'crash' | 'limit';
  /** One line for people. */
  readonly detail: string;
  /** A login's window is used up until then (ISO 8601); absent = not told. */
  readonly resetsAt?: string | undefined;
};

/** What an agent's output says. Whole texts, never cut. */
export type CliReading = {
  readonly steps: readonly TrajectoryStep[];
  readonly finalText: string;
  /** By its own sums; null where it tells nothing. */
  readonly usage: Usage;
  /** The skill was offered, and its body was opened; null = the output does not tell. */
  readonly visible: Reading;
  readonly read: Reading;
  readonly trouble: CliTrouble | null;
  /** Its last event was there: it came to its own end. */
  readonly ended: boolean;
};

/** How an agent is let in by the user's own login: nothing of it may be written to a log or outlive the rollout. */
export type CliLogin = {
  /** Variables and files (by path below the home) that the agent is given in place of a key. */
  readonly env: Readonly<Record<string, string>>;
  readonly homeFiles: Readonly<Record<string, string>>;
  /** Values that must never be shown, those that the agent is not given among them. */
  readonly secrets: readonly string[];
  /** What makes a new one, ready to be typed. */
  readonly logIn: string;
  /** Where it was found, for people. */
  readonly where: string;
  /** Until when it holds, in milliseconds since 1970; null = it does not say. */
  readonly expiresMs: number | null;
};

export type CliLoginOptions = {
  /** The user's own home and environment. */
  readonly hostHome: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The model as the config names it, whose provider's login is wanted where an agent has several; null = none. */
  readonly model: string | null;
  /** How long the login has to hold from now on, in milliseconds. */
  readonly outlivesMs: number;
  readonly nowMs: number;
};

/**
 * One coding agent: how it is started and what its output means. Everything is measured for `tested`, the version named;
 * `parse` is pure, takes whatever a killed process left, and never throws.
 */
export type CliKind = {
  readonly name: string;
  /** The program looked for on PATH. */
  readonly program: string;
  /** The npm package that brings it, for the fix where it is missing. */
  readonly npmPackage: string;
  readonly tested: string;
  /** Least version of Node that its launcher needs; null = a native program. */
  readonly node: string | null;
  /** Other programs that have to be on PATH, with what goes wrong without them. */
  readonly alsoNeeds: readonly { readonly program: string; readonly why: string }[];
  readonly speaks: readonly Protocol[];
  /** Limits of one rollout that it keeps by a switch of its own, exactly; absent = none. */
  readonly ownLimits?: readonly (keyof AgentLimits)[];
  readonly skillMounts: readonly SkillMount[];
  /** Arguments by which it prints its version. */
  readonly versionArgs: readonly string[];
  /**
   * The user's own login without what would log the user out (no refresh token): null = this agent has none that can be
   * taken. Throws `auth` with the fix where there is none, or where it does not hold long enough.
   */
  readonly login: ((o: CliLoginOptions) => Promise<CliLogin>) | null;
  launch(seat: CliSeat): CliLaunch;
  parse(output: CliOutput): CliReading;
};
