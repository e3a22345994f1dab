import type { Preloads } from '../../config/preloads.ts';
import type { Mark } from '../../process/mark.ts';
import type { Agent } from '../agents/agent.ts';
import type { Walled } from './steps.ts';

/** A skill of this machine, as it was read. */
export type SkillSource = {
  readonly name: string;
  readonly description: string;
  /** Identity of its folder. */
  readonly hash: string;
  /** Why some agent would not load it, sentences. */
  readonly oddities: readonly string[];
};

/** How skills are read, checked and copied. Paths as the config has them, or absolute. Throws `skill` failures. */
export type SkillSources = {
  readonly look: (given: string) => Promise<SkillSource>;
  /** Copies it into `<to>/<its name>/`. The source is only read. */
  readonly copy: (given: string, to: string) => Promise<void>;
  /** Identity of a folder, as of a skill's. */
  readonly hashOf: (folder: string) => Promise<string>;
};

/** What preloads are made from. */
export type PreloadOptions = {
  readonly wanted: Preloads;
  readonly agent: Pick<Agent, 'name' | 'takesSkill' | 'skillMounts' | 'takesOtherSkills' | 'takesMcp'>;
  /** Names of the skills that are measured: no other skill may have one of them. */
  readonly measured: readonly string[];
  /** Folder that relative paths start from. */
  readonly base: string;
  /** `.skillopt/preloads` of the session; it need not exist. */
  readonly dir: string;
  /** The same of a session whose preloads serve as well, if they fit; they are only read. Null = there is none. */
  readonly lender: string | null;
  /** Nothing was measured yet: what the user has changed since is taken anew. */
  readonly isNew: boolean;
  /** What the config shows to rollouts beside it. */
  readonly show: readonly string[];
  readonly network: 'off' | 'on';
  /** Commands that tasks name, and that have to be there when all is installed. */
  readonly taskCommands: readonly string[];
  readonly hostEnv: Readonly<Record<string, string>>;
  /** The user's home. */
  readonly hostHome: string;
  readonly skills: SkillSources;
  readonly redact: (text: string) => Promise<string>;
  readonly walled: Walled;
  /** There are walls around it; else it runs as this user, as was agreed to. */
  readonly hasWalls: boolean;
  readonly mark: Mark & { readonly match: 'exact' };
  /** Ends and removes what an installation that was cut off has left running. */
  readonly sweep: () => Promise<readonly string[]>;
};

/** What is needed to look at the user's own files that preloads name. */
export type GatherOptions = Pick<PreloadOptions, 'wanted' | 'base' | 'hostEnv' | 'hostHome' | 'skills' | 'redact'> & {
  readonly agent: Pick<PreloadOptions['agent'], 'name'>;
};
