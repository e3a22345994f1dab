import type { UnscoredReason } from '../../ports/outcome.ts';
import type { Check, PromptTask } from '../../ports/task.ts';
import { runCheck, softScore } from '../checks/run-check.ts';
import { runCommandCheck } from './command-check.ts';
import type { ChatOptions } from './options.ts';

/** What the checks of a task say of an answer; `report` is for people: a line for each. */
export type Judgement =
  | { readonly kind: 'scored'; readonly soft: number; readonly report: string }
  | { readonly kind: 'unscored'; readonly reason: UnscoredReason; readonly detail: string; readonly report: string }
  | { readonly kind: 'cancelled' };

/** Runs all checks in their order; a command that breaks ends them, for what it would have said is not known. */
export async function judgeAnswer(
  answer: string,
  o: {
    readonly task: PromptTask;
    readonly key: string;
    readonly options: ChatOptions;
    readonly cancelled: AbortSignal;
  },
): Promise<Judgement> {
  const results: { readonly weight: number; readonly passed: boolean }[] = [];
  const lines: string[] = [];
  for (const check of o.task.checks) {
    if (o.cancelled.aborted) return { kind: 'cancelled' };
    const said = check.kind === 'command' ? await runCommandCheck(check, answer, o) : judgedText(check, answer);
    if (said.kind === 'cancelled') return said;
    const output = said.output.trim() === '' ? [] : [said.output.trimEnd()];
    if (said.kind === 'broken') {
      const report = [...lines, `broken  ${checkName(check)}: ${said.detail}`, ...output].join('\n');
      return { kind: 'unscored', reason: said.reason, detail: said.detail, report };
    }
    results.push({ weight: check.weight, passed: said.passed });
    lines.push(`${said.passed ? 'passed' : 'failed'}  ${checkName(check)}`, ...output);
  }
  return { kind: 'scored', soft: softScore(results), report: lines.join('\n') };
}

function judgedText(check: Exclude<Check, { kind: 'command' }>, answer: string) {
  return { kind: 'judged', passed: runCheck(check, answer), output: '' } as const;
}

/** A check as its line names it. */
function checkName(check: Check): string {
  const weight = check.weight === 1 ? '' : `, weight ${check.weight}`;
  const after = check.after === null ? '' : `, after ${JSON.stringify(check.after)}`;
  return `${check.kind} ${asked(check)}${after}${weight}`;
}

function asked(check: Check): string {
  switch (check.kind) {
    case 'equals':
    case 'contains':
      return JSON.stringify(check.value);
    case 'regex':
      return `/${check.pattern}/${check.flags}`;
    case 'json':
      return check.place;
    case 'json-path':
      return `${check.path} = ${JSON.stringify(check.value)}`;
    case 'number':
      return check.tolerance === 0 ? `${check.value}` : `${check.value} ± ${check.tolerance}`;
    case 'command':
      return check.command.join(' ');
    default:
      return check satisfies never;
  }
}
