import type { AgentTaskPlaces, AgentTasks } from '../ports/agent-task.ts';
import type { ProposalOptions, ProposalRequest, Proposals } from '../ports/proposals.ts';
import { addUsage } from '../ports/usage.ts';
import {
  BEFORE_FILE,
  guidanceMaterial,
  HAND_IN_FILE,
  type Material,
  MOST_FAILING,
  REFUSED_FILE,
  reflectionMaterial,
} from './agent-files.ts';
import { readFileHandIn, readFileText } from './agent-hand-in.ts';
import { AgentRuns, type Ran } from './agent-runs.ts';
import { CallRoom } from './calls.ts';
import { type Conversation, reflect, type Turn } from './conversation.ts';
import { fill } from './fill.ts';
import { faultOf, guidanceForm, handedIn, readGuidance } from './guidance-hand-in.ts';
import againPrompt from './prompts/agent-again.md' with { type: 'text' };
import instructionPrompt from './prompts/agent-instruction.md' with { type: 'text' };
import unreadablePrompt from './prompts/unreadable.md' with { type: 'text' };
import { type End, type Sharing, shared } from './readers.ts';
import { together } from './together.ts';

export type AgentOptimizerOptions = Sharing & {
  readonly tasks: AgentTasks;
  /** Milliseconds that one run of the agent has. */
  readonly timeoutMs: number;
  /** Milliseconds. */
  readonly now: () => number;
};

/** How an agent is told to hand in once more. */
const AGAIN = `Write \`${HAND_IN_FILE}\` anew.`;

/**
 * An optimizer that is an agent. What a model is shown in messages it finds as files, and it hands in a file, which is
 * judged as a model's hand-in is: in its one repair turn it is run once more, with what is wrong and what it handed in
 * before.
 */
export function createAgentOptimizer(o: AgentOptimizerOptions): Proposals {
  const { tasks, now, timeoutMs } = o;
  const windingDown = new Set<Promise<unknown>>();
  const onRun = (run: Promise<unknown>) => {
    const over = run.catch(() => {}).then(() => void windingDown.delete(over));
    windingDown.add(over);
  };
  return {
    preflight: () => tasks.preflight(),
    reads: (request) => shared(request, o).reduce((sum, part) => sum + Math.min(part.failing.length, MOST_FAILING), 0),
    settled: async () => void (await Promise.all(windingDown)),
    async performProposal(request, options) {
      const startedAt = now();
      const room = new CallRoom(options.mayCall);
      const parts = request.kind === 'slow-update' ? [request] : shared(request, o);
      const readers = parts.map((part, at) => ({
        part,
        at,
        runs: new AgentRuns(tasks, options, { now, timeoutMs, room, onRun }),
      }));
      const ends = await Promise.all(
        readers.map(({ part, at, runs }) =>
          part.kind === 'slow-update'
            ? distill(part, options, runs)
            : reflect(new AgentReader(part, runs, at), part, options),
        ),
      );
      const end = together(ends, request.atMost);
      if (end.kind === 'failed') return end;
      const usage = readers.map(({ runs }) => runs.usage).reduce(addUsage);
      return { ...end, usage, durationMs: now() - startedAt };
    },
  };
}

/** A reader that is run twice at most. */
class AgentReader implements Conversation {
  readonly again = AGAIN;
  private readonly material: Material;
  /** What was handed in first; null = nothing. */
  private before: string | null = null;

  constructor(
    private readonly request: ProposalRequest,
    private readonly runs: AgentRuns,
    /** Its place among the readers of the reflection. */
    private readonly at: number,
  ) {
    this.material = reflectionMaterial(request);
  }

  get shown(): readonly string[] {
    return this.material.shown;
  }

  async first(): Promise<Turn> {
    const ran = await this.runs.make(work(`${this.request.key}/${this.at}.1`, this.material, null));
    if (ran.kind === 'file') this.before = ran.text;
    return turnOf(ran);
  }

  async repair(text: string): Promise<Turn> {
    const refused = { text, before: this.before };
    return turnOf(await this.runs.make(work(`${this.request.key}/${this.at}.2`, this.material, refused)));
  }
}

function turnOf(ran: Ran): Turn {
  switch (ran.kind) {
    case 'file': {
      const handIn = readFileHandIn(ran.text);
      return 'problem' in handIn ? { kind: 'unreadable', problem: handIn.problem } : { kind: 'hand-in', handIn };
    }
    case 'nothing':
      return { kind: 'unreadable', problem: ran.problem };
    case 'limit':
    case 'failed':
      return ran;
    default:
      return ran satisfies never;
  }
}

/** One run for a slow update, and a second one where its guidance can't be read or used. */
async function distill(
  request: ProposalRequest,
  options: Pick<ProposalOptions, 'check'>,
  runs: AgentRuns,
): Promise<End> {
  const material = guidanceMaterial(request);
  let refused: Refused | null = null;
  for (;;) {
    const ran: Ran = await runs.make(work(`${request.key}/${refused === null ? 1 : 2}`, material, refused));
    if (ran.kind === 'failed') return ran;
    if (ran.kind === 'limit')
      return { kind: 'unusable', detail: 'a limit is spent: it ended before anything was handed in' };
    const said =
      ran.kind === 'file'
        ? readGuidance(readFileText(ran.text, guidanceForm))
        : { kind: 'unreadable' as const, problem: ran.problem };
    const fault = said.kind === 'said' ? faultOf(said.edit, request, options.check) : said.problem;
    if (said.kind === 'said' && (fault === null || refused !== null)) return handedIn(said);
    if (refused !== null)
      return { kind: 'unusable', detail: `no guidance that can be used, after one repair turn: ${fault}` };
    const text = fill(unreadablePrompt, { problem: fault ?? '', again: AGAIN });
    refused = { text, before: ran.kind === 'file' ? ran.text : null };
  }
}

/** What was wrong with a first hand-in, and the hand-in itself; null = there was none. */
type Refused = { readonly text: string; readonly before: string | null };

/** What an agent is given in one run. */
function work(key: string, { files }: Material, refused: Refused | null) {
  return {
    key,
    handInName: HAND_IN_FILE,
    files: refused === null ? files : { ...files, ...refusedFiles(refused) },
    instruction: ({ material, handIn }: AgentTaskPlaces) => {
      const told = fill(instructionPrompt, { material, handIn });
      if (refused === null) return told;
      const before = refused.before === null ? '' : ` What you handed in then lies in ${material}/${BEFORE_FILE}.`;
      return `${told}\n\n${fill(againPrompt, { material, before })}`;
    },
  };
}

function refusedFiles({ text, before }: Refused): Readonly<Record<string, string>> {
  return { [REFUSED_FILE]: `${text}\n`, ...(before === null ? {} : { [BEFORE_FILE]: before }) };
}
