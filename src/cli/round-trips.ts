import type { Redactor } from '../journal/redact.ts';
import type { RoundTrip } from '../models/index.ts';
import { handInTool } from '../optimizer/reading-tools.ts';
import { heldForm } from '../optimizer/reflecting.ts';
import { type Failure, SkilloptError } from '../ports/failure.ts';
import type { Model, ModelTool } from '../ports/model.ts';
import type { Session } from '../session/session.ts';
import type { Roles, RoleTrip } from './roles.ts';

/** What came of asking each model once. */
export type RoundTrips = {
  readonly trips: readonly RoleTrip[];
  /** What is odd, for people; nothing of it keeps the session from beginning. */
  readonly warnings: readonly string[];
  /** The optimizer calls no tool, so it has to be shown a digest. */
  readonly oneShot: boolean;
};

type Asked = { readonly role: RoleTrip['role']; readonly trip: RoundTrip };

/** Characters of an answer that are told. */
const SAID = 80;

/**
 * One short real call of each role's model, both at once, before the session begins. What they spend is noted in the
 * session. Throws what failed, as `preflight` unless it has a code of its own; an answer that is another one is a warning.
 */
export async function roundTrips(
  session: Pick<Session, 'id' | 'config' | 'noteCall'>,
  roles: Roles<Model>,
  o: { readonly signal: AbortSignal; readonly redact: Redactor },
): Promise<RoundTrips> {
  if (roles.target === null && roles.optimizer === null) return { trips: [], warnings: [], oneShot: false };
  const { roundTrip, wordOf } = await import('../models/index.ts');
  const word = wordOf(session.id);
  const { form, maxCalls } = session.config.reflection;
  const ask = async (role: RoleTrip['role'], model: Model, tool: ModelTool | null): Promise<Asked> => ({
    role,
    trip: await roundTrip(model, { word, tool, signal: o.signal, now: () => performance.now() }),
  });
  const byTools = roles.optimizer !== null && heldForm(form, roles.optimizer, maxCalls) === 'tools';
  const asked = await Promise.all([
    ...(roles.target === null ? [] : [ask('target', roles.target, null)]),
    ...(roles.optimizer === null
      ? []
      : [ask('optimizer', roles.optimizer, byTools ? handInTool(session.config.optimize) : null)]),
  ]);
  const first = asked.find((a) => a.role === 'optimizer')?.trip.answer;
  const fallsBack = byTools && form === 'auto' && first !== undefined && lacksTools(first);
  // a model that was asked for a call and said nothing, or whose server takes no tools, is asked in plain words
  if (fallsBack && roles.optimizer !== null && first.kind !== 'no-call')
    asked.push(await ask('optimizer', roles.optimizer, null));
  const said = async (text: string) => {
    const clean = (await o.redact(text)).replace(/\s+/g, ' ').trim();
    return clean.length > SAID ? `${clean.slice(0, SAID)}…` : clean;
  };
  const warnings: string[] = [];
  if (fallsBack)
    warnings.push(
      `${roles.optimizer?.id} does not call the tool by which edits are handed in, so it is shown a digest in one call (reflection.form: one-shot); set that, or "tools": false of the model, and nothing is asked twice`,
    );
  for (const { role, trip } of asked) {
    const { usage, durationMs } = trip;
    const problem = trip.answer.kind === 'failed' ? await o.redact(trip.answer.failure.what) : null;
    session.noteCall({ role, model: trip.model, problem, usage, durationMs: Math.round(durationMs) });
    if (trip.answer.kind === 'other')
      warnings.push(
        `${trip.model} was asked for the word “${word}” and answered “${await said(trip.answer.said)}”: it can be reached, but may not do what it is told`,
      );
    if (trip.answer.kind === 'no-call' && !fallsBack)
      warnings.push(
        `${trip.model} answered in text and did not call the tool it was asked to; set reflection.form to auto or one-shot`,
      );
  }
  const failed = asked.flatMap((a) => (fallsBack && a.trip.answer === first ? [] : (failureOf(a) ?? [])));
  const [failure] = failed;
  if (failure !== undefined) throw new SkilloptError(failure);
  return {
    trips: asked.map(({ role, trip: { model, usage, durationMs } }) => ({ role, model, usage, durationMs })),
    warnings,
    oneShot: fallsBack,
  };
}

const lacksTools = (answer: RoundTrip['answer']): boolean =>
  answer.kind === 'no-call' || answer.kind === 'nothing' || (answer.kind === 'failed' && answer.refused);

function failureOf({ role, trip }: Asked): Failure | null {
  const { answer, model } = trip;
  if (answer.kind === 'failed') {
    const { what, where, fix } = answer.failure;
    return { ...answer.failure, what: `${what}, when the ${role} was asked for one word`, where, fix };
  }
  if (answer.kind !== 'nothing') return null;
  return {
    code: 'preflight',
    what: `the ${role} was asked for one word and answered nothing`,
    where: model,
    fix: 'ask the model by hand at that address; for one that thinks first raise "maxOutputTokens"',
    retryable: true,
  };
}
