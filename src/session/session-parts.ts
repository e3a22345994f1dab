import type { Config } from '../config/schema.ts';
import type { Pack } from '../ports/task.ts';
import type { RenderDocument } from './derived-files.ts';
import type { SeedSkill } from './first-lines.ts';

/** What the session needs of other rooms, handed in by `cli`. */
export type SessionParts = {
  /** Hash and names of the files beside SKILL.md. */
  readonly bundleOf: (dir: string) => Promise<{ readonly bundle: string; readonly files: readonly string[] }>;
  /** Copies the skill of this config into `<to>/<name>/` and says what it is. Never changes the source. */
  readonly importSkill: (config: Config, to: string) => Promise<SeedSkill>;
  /** Copies the pack of this config to `to`. */
  readonly importPack: (config: Config, to: string) => Promise<void>;
  readonly readPack: (dir: string) => Promise<Pack>;
  /** Throws `config` when a value holds a secret: a session's config stands in its log as it is. */
  readonly refuseSecrets: (config: Config, placeOf: (key: string) => string) => Promise<void>;
  readonly render: RenderDocument;
  readonly now: () => string;
  /** Version of this program. */
  readonly program: string;
  /** The command as it was typed, without secrets; absent = there is none. */
  readonly command?: string | undefined;
  /** A fresh session id. */
  readonly newId: () => string;
};
