import type { RunState } from '../events/run-state.ts';
import { renderDocument } from '../report/markdown.ts';
import { powerOf } from './power-of.ts';

/** `skillopt.md` of a state and its head, with what the engine alone can work out. */
export const renderSession = (state: RunState, head: { readonly lines: number; readonly hash: string }): string =>
  renderDocument(state, head, powerOf(state));
