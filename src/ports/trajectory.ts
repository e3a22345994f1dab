/** One thing that happened in a rollout, in the one form that all agents are brought into. Texts may be cut; `cut` counts what is gone. */
export type TrajectoryStep =
  | { readonly kind: 'message'; readonly role: 'system' | 'user' | 'agent'; readonly text: string }
  | { readonly kind: 'thought'; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly input: string;
      readonly output: string;
      readonly exitCode: number | null;
    }
  | { readonly kind: 'note'; readonly text: string };

/** What the agent did, in one normalized form for all agents. `verifier` is for people and never shown to the optimizer. */
export type Trajectory = {
  readonly agent: string;
  readonly steps: readonly TrajectoryStep[];
  readonly finalText: string;
  /** Characters cut from long texts. */
  readonly cut: number;
  readonly verifier: { readonly output: string } | null;
};
