/** What a model needs of the world around it. */
export type ModelSurroundings = {
  /** The host's environment: keys, and for commands the whole of it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Where a command of the user's own is started: the folder of the config, which its relative paths mean. */
  readonly folder: string;
};
