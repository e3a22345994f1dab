import { conclusion } from '../events/conclusion.ts';
import { optimizerText } from '../events/optimizer-words.ts';
import { type Power, powerBasis, powerText } from '../events/power.ts';
import { callsNoModel, rehearsed } from '../events/rehearsal-words.ts';
import type { EditState, RunState } from '../events/run-state.ts';
import { faultsText } from '../events/triggers.ts';
import { failurePoint } from '../events/trouble.ts';
import {
  boundsText,
  causeText,
  editsText,
  editTitle,
  flipsText,
  forkText,
  gateText,
  intervalNote,
  limitsText,
  lookedAgainText,
  lookText,
  oneLine,
  optimizedPart,
  REHEARSAL,
  readText,
  scoreText,
  unscoredTexts,
  verdictText,
} from '../events/words.ts';
import { printable } from '../ports/printable.ts';
import { unifiedDiff } from '../skill/diff.ts';

/**
 * `skillopt.md`: objective, environment, what has been tried, what came of it. A pure function of a prefix of the log,
 * which its last line names, and of the `power` that follows from it.
 */
export function renderDocument(
  state: RunState,
  head: { readonly lines: number; readonly hash: string },
  power: Power | null,
): string {
  const { session, splits, plan } = state;
  if (!session || !splits || !plan) return '';
  const metric = plan.gate.metric;
  const lines = [
    `# ${session.skill.name}: optimization session ${session.session}`,
    '',
    ...(callsNoModel(state) ? [`**${REHEARSAL}: agent and optimizer are small deterministic programs.**`, ''] : []),
    ...(session.rehearsal && !callsNoModel(state) ? [`**REHEARSAL: ${rehearsed(state)}.**`, ''] : []),
    ...(session.fork ? [`${upper(forkText(session.fork))}.`, ''] : []),
    '## Where it stands',
    '',
    ...standing(state, power),
    '',
    '## Objective',
    '',
    `${objective(state)} An edit is kept only when the selection split strictly improves; a tie is a rejection. The test split is sealed until finalize.`,
    '',
    '## Environment',
    '',
    `- backend ${session.environment.backend}, agent ${session.environment.agent}, model ${session.environment.model ?? 'none'}, optimizer ${optimizerText(plan)}`,
    `- versions: ${versionsText(session.environment.versions)}`,
    `- ${session.pack.tasks.length} tasks: ${splits.train} train, ${splits.selection} selection, ${splits.test} test; pass = reward of at least ${session.environment.passThreshold}`,
    `- gate ${plan.gate.rule}, metric ${metric}; budget ${plan.budget} rollouts${boundsText(plan)}; limits: ${limitsText(plan.limits)}`,
    ...(power ? [`- power: ${[`${powerText(power)}.`, powerBasis(power)].filter(Boolean).join(' ')}`] : []),
    ...(state.notes.length > 0
      ? ['', '## Notes to the optimizer', '', ...state.notes.map((n) => `- ${oneLine(n)}`)]
      : []),
    '',
    '## Steps',
    '',
    ...stepTable(state),
    '',
    '## What has been tried',
    '',
    ...tried(state),
    '',
    ...testTable(state),
    ...diffOf(state),
    ...(state.warnings.length > 0 ? ['## Warnings', '', ...state.warnings.map((w) => `- ${oneLine(w)}`), ''] : []),
    '---',
    '',
    `log ${head.lines} lines, head ${head.hash}`,
    '',
  ];
  return printable(lines.join('\n'));
}

function objective(state: RunState): string {
  const { session } = state;
  const skill = `\`${session?.skill.name}\` (from \`${session?.skill.from}\`)`;
  const pack = `the pack \`${session?.pack.name}\``;
  return optimizedPart(state) === 'description'
    ? `Make the description of ${skill} open it at the prompts of ${pack} that it is meant for, and at no others: at more of them rightly than the seed’s does. The body stays as it is.`
    : `Make ${skill} pass more tasks of ${pack} than the seed does.`;
}

function standing(state: RunState, power: Power | null): string[] {
  const { headline, next } = conclusion(state, '.', power);
  const failure = failurePoint(state, next);
  const best = state.skills.get(state.incumbent);
  const metric = state.plan?.gate.metric;
  const unconfirmed = best && best.version > 0 && state.confirmation === null;
  return [
    upper(headline) + (/[.…]$/.test(headline) ? '' : '.'),
    '',
    `- seed: selection ${scoreText(state.seed.selection, metric)}, train ${scoreText(state.seed.train, metric)}`,
    `- best skill: ${best && best.version > 0 ? `version ${best.version}${unconfirmed ? ' (**unconfirmed**: chosen because it was good on selection)' : ''}` : 'the seed'}`,
    ...(state.ended ? [`- the search ended: ${causeText(state.ended.cause)}`] : []),
    `- rollouts started ${state.rollouts.started}, finished ${state.rollouts.finished}, unscored ${state.rollouts.finished - state.rollouts.scored}; optimizer calls ${state.calls}${state.rollouts.inherited > 0 ? `; inherited ${state.rollouts.inherited} outcomes, paid by the parent` : ''}; skill ${readText(state)}`,
    ...unscoredTexts(state).map((text) => `- unscored: ${oneLine(text)}`),
    ...(failure
      ? [
          `- **failed at** ${oneLine(failure.where)}: ${oneLine(failure.what)}${failure.line === null ? '' : ` (line ${failure.line} of the log)`}`,
        ]
      : []),
    ...(state.command === null ? [] : [`- command: ${code(oneLine(state.command))}`]),
    '- files: `best_skill.md`, `skillopt.jsonl` and `skillopt.snapshots/`, beside this one',
    `- next, from this directory: ${oneLine(next)}`,
  ];
}

function stepTable(state: RunState): string[] {
  const metric = state.plan?.gate.metric ?? 'hard';
  const rows = state.steps.map((s) => {
    const score = s.gateAction === 'accept' ? scoreText(s.selection.candidate, metric) : '';
    return `| ${s.step} | ${s.kind ? '' : s.rounds} | ${editsText({ ...s, draft: s.edits.length })} | ${gateText(s)} | ${cell(verdictText(s))} | ${score} | ${s.confidence.toFixed(2)} | ${cell(flipsText(s))} |`;
  });
  return [
    '| step | rounds | edits tried → kept | gate | verdict | selection | evidence | tasks that flipped |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    `| – | | seed | | baseline | ${scoreText(state.seed.selection, metric)} | | |`,
    ...rows,
  ];
}

function tried(state: RunState): string[] {
  if (state.edits.size === 0) return ['Nothing yet.'];
  return [...state.edits.values()].map((e) => `- round ${e.round}: ${editTitle(e, 100)} – ${fateText(e)}`);
}

function fateText(e: EditState): string {
  switch (e.fate) {
    case 'handed-in':
      return 'handed in';
    case 'in-draft':
      return `in the draft (${e.why})`;
    case 'dropped':
      return `dropped (${e.why})`;
    case 'rejected':
      return `not tried: ${oneLine(e.why)}`;
    case 'accepted':
      return `accepted in ${e.why}`;
    case 'refused':
      return `refused with its draft in ${e.why}`;
    default:
      return e.fate satisfies never;
  }
}

function testTable(state: RunState): string[] {
  const { finalized } = state;
  if (!finalized) return [];
  const metric = state.plan?.gate.metric ?? 'hard';
  const faults = faultsText(state);
  const narrow = intervalNote(state);
  return [
    '## Sealed test',
    '',
    `| arm | passed | 95 % interval | skill ${optimizedPart(state) === 'description' ? 'opened' : 'read'} |`,
    '| --- | --- | --- | --- |',
    ...finalized.arms.map(
      (a) =>
        `| ${a.arm} | ${scoreText(a.score, metric)} | ${a.interval ? `${a.interval[0].toFixed(2)} to ${a.interval[1].toFixed(2)}` : '–'} | ${a.read[1] > 0 ? `${a.read[0]} of ${a.read[1]}` : '–'} |`,
    ),
    '',
    `All arms together, interleaved; ${[lookText(finalized.look), lookedAgainText(state.lookedAgain)].filter(Boolean).join('; ')}. Result against seed: ${finalized.wins} won, ${finalized.losses} lost of ${finalized.pairs}.${faults === '' ? '' : ` The result ${faults}.`}${narrow === '' ? '' : ` The intervals are ${narrow}.`}`,
    '',
  ];
}

function diffOf(state: RunState): string[] {
  const best = state.skills.get(state.incumbent);
  const seed = state.session?.skill.text;
  if (!best || seed === undefined || best.text === seed) return [];
  const diff = unifiedDiff(seed, best.text, { before: 'a/SKILL.md', after: 'b/SKILL.md' });
  const fence = '`'.repeat(Math.max(3, ...[...diff.matchAll(/`+/g)].map((m) => m[0].length + 1)));
  return ['## Diff against the seed', '', `${fence}diff`, diff.replace(/\n$/, ''), fence, ''];
}

function versionsText(versions: Readonly<Record<string, string>>): string {
  const list = Object.entries(versions).map(([k, v]) => `${k} ${v}`);
  return list.length > 0 ? list.join(', ') : 'none known';
}

/** In backticks, whatever it holds. */
function code(text: string): string {
  const ticks = '`'.repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map((m) => m[0].length)) + 1);
  return ticks.length === 1 ? `\`${text}\`` : `${ticks} ${text} ${ticks}`;
}

const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const cell = (text: string) => oneLine(text).replaceAll('|', '\\|');
