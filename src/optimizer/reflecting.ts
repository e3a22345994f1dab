import type { Failure } from '../ports/failure.ts';
import type { Model } from '../ports/model.ts';
import type { Proposals } from '../ports/proposals.ts';
import { addUsage } from '../ports/usage.ts';
import { CallRoom, Calls } from './calls.ts';
import { reflect } from './conversation.ts';
import { Dialogue } from './dialogue.ts';
import { distill } from './guidance.ts';
import { type Sharing, shared } from './readers.ts';
import type { Form } from './requests.ts';
import { together } from './together.ts';

/** How a reflection is held. */
export type ReflectingOptions = Sharing & {
  /** A patient one: what it throws is not worth another try at once. */
  readonly model: Model;
  /** `auto` = by tools where the model takes them and may be called more than once. */
  readonly form: 'auto' | Form;
  /** Most model calls of one reader; its one repair turn, and a call that was too long for the model, come on top. */
  readonly maxCalls: number;
  /** Milliseconds. */
  readonly now: () => number;
};

/** The form that a reflection will have: by tools only where the model takes them and may be called more than once. */
export function heldForm(form: ReflectingOptions['form'], model: Pick<Model, 'takesTools'>, maxCalls: number): Form {
  return form === 'auto' ? (model.takesTools && maxCalls > 1 ? 'tools' : 'one-shot') : form;
}

/**
 * An optimizer with a model. It is shown what fails and passes on train and what was tried, and hands in small edits.
 * What it hands in is judged at once; one repair turn tells it everything that can't be used, and why. What is refused
 * even so is handed in as it is, so that its rejection can be seen.
 */
export function createReflectingOptimizer(o: ReflectingOptions): Proposals {
  const { model, form, maxCalls, now } = o;
  const lacksTools: Failure | null =
    form === 'tools' && !model.takesTools
      ? {
          code: 'config',
          what: `reflection is set to read by tools, and ${model.id} takes none`,
          where: 'reflection.form',
          fix: 'set reflection.form to auto or one-shot, or use a model that takes tools',
          retryable: false,
        }
      : null;
  const held = heldForm(form, model, maxCalls);
  return {
    async preflight() {
      const findings = await model.preflight();
      if (lacksTools === null) return findings;
      const { what, where, fix } = lacksTools;
      return [...findings, { level: 'error', what, where, fix }];
    },
    reads: (request) => shared(request, o).reduce((sum, part) => sum + part.failing.length, 0),
    async performProposal(request, options) {
      if (lacksTools !== null) return { kind: 'failed', failure: lacksTools };
      const startedAt = now();
      const room = new CallRoom(options.mayCall);
      const parts = request.kind === 'slow-update' ? [request] : shared(request, o);
      const readers = parts.map((part, at) => ({
        part,
        calls: new Calls(model, options, now, request.round, room, part.kind === 'slow-update' ? DISTILLER : at),
      }));
      const ends = await Promise.all(
        readers.map(({ part, calls }) =>
          part.kind === 'slow-update'
            ? distill(part, options, calls)
            : reflect(new Dialogue(held, calls, part, maxCalls), part, options),
        ),
      );
      const end = together(ends, request.atMost);
      if (end.kind === 'failed') return end;
      const usage = readers.map(({ calls }) => calls.usage).reduce(addUsage);
      return { ...end, usage, durationMs: now() - startedAt };
    },
  };
}

/** No place of a reader is as high, so that no call of the same round is the same draw. */
const DISTILLER = 100;
