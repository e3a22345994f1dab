import { agentName } from '../config/agent.ts';
import { modelName } from '../config/model.ts';
import { kindOf, type LoggedEvent } from '../events/events.ts';
import { Fold } from '../events/fold.ts';
import type { RunState } from '../events/run-state.ts';
import { type Head, readLog } from '../journal/journal.ts';
import { TextFiles } from '../journal/texts.ts';
import { fail, SkilloptError } from '../ports/failure.ts';
import { shortHash } from '../ports/hash.ts';
import type { RenderDocument } from './derived-files.ts';
import { checkRules, configOf, environmentFingerprint, isRehearsal, planEvent, splitsEvent } from './first-lines.ts';
import { Logged } from './logged.ts';
import { documentHead, readIfThere } from './own-document.ts';
import { sessionPaths } from './paths.ts';
import { replayLog } from './replay.ts';

/** Something that is not as the log says. */
export type Problem = {
  readonly kind: 'changed' | 'missing text' | 'stale derived file' | 'not derived';
  readonly where: string;
  readonly what: string;
};

export type VerifyReport = {
  readonly lines: number;
  readonly head: string;
  readonly torn: boolean;
  readonly effects: number;
  readonly decisions: number;
  /** The search has ended; the test was opened. */
  readonly complete: boolean;
  readonly finalized: boolean;
  readonly problems: readonly Problem[];
  /** The other version of this program that wrote the document, whose text was therefore not compared; null = none. */
  readonly documentBy: string | null;
  /** Line of the first decision that does not follow by the rules; null = all follow. */
  readonly differsAt: number | null;
  /** What only the chain and the head vouch for. */
  readonly chainOnly: { readonly unreadOutcomes: number; readonly markers: number };
  /** Without its feed. */
  readonly state: RunState;
};

/**
 * Replay without ports, offline: every decision drawn must equal the logged one in full. Changed lines, missing texts
 * and stale derived files are told apart. `program` = version of this program. Writes nothing.
 */
export async function verifySession(dir: string, render: RenderDocument, program: string): Promise<VerifyReport> {
  const paths = sessionPaths(dir);
  const fold = new Fold({ feed: false });
  const problems: Problem[] = [];
  const document = new DocumentRead(paths.document, program);
  const consumed = new Set<string>();
  let markers = 0;
  const { logged, end } = Logged.read(readLog(paths.log), ({ event, hash }) => {
    fold.add(event);
    if ('consumed' in event) for (const key of event.consumed) consumed.add(key);
    else if (kindOf(event.type) === 'marker') markers++;
    document.line(event, hash, () => render(fold.state, { lines: event.seq, hash }));
  });
  if (end.head.lines === 0)
    throw fail('usage', 'there is nothing to verify: the log has no line', paths.log, 'start the session first');
  const report = (complete: boolean, finalized: boolean): VerifyReport => ({
    lines: end.head.lines,
    head: end.head.hash,
    torn: end.torn,
    effects: logged.outcomes.size + logged.proposals.size,
    decisions: logged.decisions.length,
    complete,
    finalized,
    problems,
    documentBy: document.by,
    differsAt: null,
    chainOnly: { unreadOutcomes: [...logged.outcomes.keys()].filter((k) => !consumed.has(k)).length, markers },
    state: fold.state,
  });

  checkDocument(document, end.head, problems);
  checkTexts(logged, new TextFiles(paths.texts), problems);
  checkSkillFiles(fold.state, paths, problems);
  if (!logged.created || !logged.splits || !logged.plan) return report(false, false);
  const { created, splits, plan } = logged;
  checkRules(created, paths.log);
  problems.push(...firstLines(logged, paths.log));
  if (problems.some((p) => p.kind === 'changed' && p.where.startsWith(paths.log))) return report(false, false);
  const replayed = await replayLog(logged, { created, splits, plan }, paths.log);
  for (const what of replayed.odd) problems.push({ kind: 'changed', where: paths.log, what });
  const { difference } = replayed;
  if (difference === null) return report(replayed.complete, replayed.finalized);
  const { what, where } = difference.failure;
  problems.push({ kind: 'changed', where: `${paths.log}:${difference.line}`, what: `${what}\n${where}` });
  return { ...report(replayed.complete, replayed.finalized), differsAt: difference.line };
}

/** Seed, splits and plan follow from what `session.created` holds. */
function firstLines(logged: Logged, log: string): Problem[] {
  const { created, splits, plan } = logged;
  if (!created || !splits || !plan) return [];
  const out: Problem[] = [];
  const same = (line: number, what: string, a: unknown, b: unknown) => {
    if (JSON.stringify(a) !== JSON.stringify(b)) out.push({ kind: 'changed', where: `${log}:${line}`, what });
  };
  same(
    1,
    'the seed’s text does not have the hash that stands there',
    created.skill.hash,
    shortHash(created.skill.text),
  );
  const bare = ({ type: _type, ...rest }: { type: string }) => {
    const { v: _v, seq: _s, at: _a, prev: _p, ...fields } = rest as Record<string, unknown>;
    return fields;
  };
  try {
    const config = configOf(created);
    const { backend, agent, model } = config;
    same(1, 'the seed of randomness does not follow from the config', created.seed, config.seed);
    same(1, 'rehearsal or not does not follow from the config', created.rehearsal, isRehearsal(config));
    same(
      1,
      'the environment does not follow from the config',
      { ...created.environment, versions: {} },
      {
        backend,
        agent: agentName(agent),
        model: model === null ? null : modelName(model),
        passThreshold: config.gate.passThreshold,
        fingerprint: environmentFingerprint(config, created.skill.bundle),
        versions: {},
      },
    );
    same(2, 'the splits do not follow from pack, config and seed', bare(splits), bare(splitsEvent(created)));
    same(3, 'the plan does not follow from the config', bare(plan), bare(planEvent(created, splits)));
  } catch (e) {
    if (!(e instanceof SkilloptError)) throw e;
    out.push({ kind: 'changed', where: `${log}:1`, what: e.failure.what });
  }
  return out;
}

/** A derived document, and what the prefix of the log that it names says of it. */
export class DocumentRead {
  readonly text: string | null;
  readonly named: Head | null;
  /** Hash of the line that it names, and its rendering there; null while that line has not come. */
  namedLine: string | null = null;
  rendered: string | null = null;
  /** The version that worked on the session then, if it is another one and its text is not what this one would write. */
  by: string | null = null;
  private program = '';

  /** `own` = version of this program: another one may word things differently. */
  constructor(
    readonly path: string,
    private readonly own: string,
  ) {
    this.text = readIfThere(path);
    this.named = this.text === null ? null : documentHead(this.text);
  }

  /** Hears each line of the log. */
  line(event: LoggedEvent, hash: string, render: () => string): void {
    if ('program' in event) this.program = event.program;
    if (this.named?.lines !== event.seq) return;
    this.namedLine = hash;
    this.rendered = render();
    if (this.rendered !== this.text && this.program !== this.own) this.by = this.program;
  }
}

export function checkDocument(document: DocumentRead, head: Head, problems: Problem[]): void {
  const { path, text, named, namedLine, rendered } = document;
  if (text === null) return;
  if (named === null) problems.push({ kind: 'not derived', where: path, what: 'it names no line of the log' });
  else if (named.lines > head.lines)
    problems.push({
      kind: 'changed',
      where: path,
      what: `it was written when the log had ${named.lines} lines; now it has ${head.lines}: lines are missing at the end`,
    });
  else if (named.hash !== namedLine)
    problems.push({ kind: 'changed', where: path, what: `line ${named.lines} of the log is not the one it names` });
  else if (rendered !== text && document.by === null)
    problems.push({ kind: 'not derived', where: path, what: 'its text is not what the log says' });
}

/** Every trajectory that the log names is there, and is what it was. */
export function checkTexts(logged: Logged, texts: TextFiles, problems: Problem[]): void {
  // listed once: a session that was moved without its texts names very many that are not there
  const listed = texts.listed();
  for (const [hash, line] of logged.trajectories()) {
    const state = listed === null || listed.has(hash) ? texts.check(hash) : 'missing';
    if (state === 'missing')
      problems.push({
        kind: 'missing text',
        where: texts.pathOf(hash),
        what: `the trajectory of line ${line} is gone`,
      });
    if (state === 'changed')
      problems.push({
        kind: 'changed',
        where: texts.pathOf(hash),
        what: `the trajectory of line ${line} is not what it was`,
      });
  }
}

function checkSkillFiles(state: RunState, paths: ReturnType<typeof sessionPaths>, problems: Problem[]): void {
  const best = readIfThere(paths.best);
  const should = state.skills.get(state.incumbent)?.text;
  if (best !== null && best !== should) {
    const older = [...state.skills.values()].find((s) => s.text === best);
    problems.push(
      older
        ? {
            kind: 'stale derived file',
            where: paths.best,
            what: `it is version ${older.version}, not the best one; \`skillopt run\` writes it anew`,
          }
        : { kind: 'not derived', where: paths.best, what: 'its text is none of this session’s skills' },
    );
  }
  for (const { version, text } of state.skills.values()) {
    const snapshot = readIfThere(paths.snapshot(version));
    if (snapshot !== null && snapshot !== text)
      problems.push({
        kind: 'not derived',
        where: paths.snapshot(version),
        what: 'its text is not the one that was accepted',
      });
  }
}
