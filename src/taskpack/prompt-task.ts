import { sha256 } from '../ports/hash.ts';
import type { Check, ListedSkill, PromptFile, PromptTask } from '../ports/task.ts';
import { instructionHash } from './instruction.ts';
import type { JsonKeys, JsonSource, Node } from './json-source.ts';
import { idProblem } from './names.ts';
import { type FileOf, readChecks, readSeconds } from './prompt-checks.ts';
import type { PromptFiles } from './prompt-files.ts';

/** What the pack gives to all of its tasks. */
export type PackWide = {
  readonly dir: string;
  readonly system: string;
  readonly noAnswer: readonly string[];
  readonly otherSkills?: readonly ListedSkill[] | undefined;
};

const keys = [
  'id',
  'prompt',
  'promptFile',
  'system',
  'files',
  'timeoutSec',
  'checks',
  'answer',
  'should_trigger',
] as const;

/** Ids become file names on some surfaces: as long as those may be. */
const MOST_ID_BYTES = 200;

/**
 * Reads an entry of a prompt pack:
 *
 *     {"id": "capital", "prompt": "What is the capital of France?", "answer": "Paris"}
 *     {"id": "total", "promptFile": "total.md", "files": ["data/orders.csv"], "system": "You are …", "timeoutSec": 60,
 *      "checks": [{"number": 42, "after": "TOTAL:"}]}
 *
 * `prompt` or `promptFile`, and `checks` (see `readChecks`) or `answer`, which is short for one check: `equals` for a
 * text, `number` for a number. The entry's `system` stands in place of the pack's. `"should_trigger": true` or `false`
 * says whether the skill is meant for the prompt; a task that says so needs no checks. Null: problems were told.
 */
export async function readPromptTask(
  source: JsonSource,
  node: Node,
  files: PromptFiles,
  pack: PackWide,
): Promise<PromptTask | null> {
  const before = source.problems.length;
  const entry = source.object(node, 'a task', keys);
  if (entry === null) return null;
  const fileOf: FileOf = async (name) => {
    const given = source.string(name, 'the name of a file');
    const reading = given === null ? null : await files.read(given);
    if (reading === null) return null;
    if (reading.ok) return { name: reading.file.name, text: reading.file.text };
    source.problem(name, `${given} ${reading.what}`, reading.fix);
    return null;
  };
  const id = readId(source, node, entry);
  const prompt = await readPrompt(source, node, entry, fileOf);
  const systemNode = entry.get('system');
  const system = systemNode === undefined ? pack.system : source.string(systemNode, 'system', true);
  const shown = await readFiles(source, entry.get('files'), fileOf);
  const timeoutNode = entry.get('timeoutSec');
  const agentTimeoutSec = timeoutNode === undefined ? null : readSeconds(source, timeoutNode);
  const triggerNode = entry.get('should_trigger');
  const shouldTrigger = triggerNode === undefined ? null : source.boolean(triggerNode, 'should_trigger');
  const checks = await readScoring(source, node, entry, fileOf);
  for (const left of await leftOut(checks ?? [], shown, files))
    source.problem(
      entry.get('checks') ?? node,
      `the command names ${left}, which lies in the pack but is not laid beside it`,
      `add "files": [${JSON.stringify(left)}] to the check`,
    );
  if (id === null || prompt === null || system === null || checks === null || source.problems.length > before)
    return null;
  const { otherSkills } = pack;
  const listed = otherSkills === undefined ? {} : { otherSkills };
  const base = { prompt, system, files: shown, checks, agentTimeoutSec, noAnswer: pack.noAnswer, ...listed };
  const content = shouldTrigger === null ? base : { ...base, shouldTrigger };
  return {
    kind: 'prompt',
    id,
    dir: pack.dir,
    hash: sha256(canonical(['prompt task', content])),
    instruction: prompt,
    instructionHash: instructionHash([prompt, ...shown.flatMap((file) => [file.name, file.text])].join('\n')),
    agentTimeoutSec,
    shouldTrigger,
    system,
    files: shown,
    checks,
    noAnswer: pack.noAnswer,
    ...listed,
  };
}

/** Files of the pack that a check's command names and does not get: it would fail whatever the answer. */
async function leftOut(
  checks: readonly Check[],
  shown: readonly PromptFile[],
  files: PromptFiles,
): Promise<readonly string[]> {
  const named = checks.flatMap((check) => {
    if (check.kind !== 'command') return [];
    const given = new Set([...shown, ...(check.files ?? [])].map((file) => file.name));
    return check.command.map((word) => word.replace(/^(\.\/)+/, '')).filter((word) => !given.has(word));
  });
  const lying = await Promise.all(named.map(async (name) => ((await files.lies(name)) ? [name] : [])));
  return [...new Set(lying.flat())];
}

function readId(source: JsonSource, node: Node, entry: JsonKeys): string | null {
  const idNode = entry.get('id');
  if (idNode === undefined) {
    if (!entry.meant.has('id')) source.problem(node, 'a task without an id', 'add "id": a short name of its own');
    return null;
  }
  const id = source.string(idNode, 'id');
  if (id === null) return null;
  const why =
    idProblem(id) ?? (Buffer.byteLength(id) > MOST_ID_BYTES ? `an id of more than ${MOST_ID_BYTES} bytes` : null);
  if (why === null) return id;
  source.problem(idNode, why, 'rename it: letters, digits, - and _ will do');
  return null;
}

async function readPrompt(source: JsonSource, node: Node, entry: JsonKeys, fileOf: FileOf): Promise<string | null> {
  const given = entry.get('prompt');
  const named = entry.get('promptFile');
  if (given !== undefined && named !== undefined) {
    source.problem(named, 'both a prompt and a promptFile', 'keep one of the two');
    return null;
  }
  if (given !== undefined) return source.string(given, 'prompt');
  if (named === undefined) {
    if (!entry.meant.has('prompt') && !entry.meant.has('promptFile'))
      source.problem(node, 'a task without a prompt', 'add "prompt": what the model is to do');
    return null;
  }
  const file = await fileOf(named);
  if (file === null || file.text.trim() !== '') return file?.text ?? null;
  source.problem(named, `${file.name} is empty`, 'write there what the model is to do');
  return null;
}

async function readFiles(source: JsonSource, node: Node | undefined, fileOf: FileOf): Promise<readonly PromptFile[]> {
  const found: PromptFile[] = [];
  for (const name of node === undefined ? [] : (source.list(node, 'files') ?? [])) {
    const file = await fileOf(name);
    if (file === null) continue;
    if (found.some((other) => other.name === file.name))
      source.problem(name, `${file.name} stands twice in files`, 'keep one of the two');
    else found.push(file);
  }
  return found;
}

async function readScoring(
  source: JsonSource,
  node: Node,
  entry: JsonKeys,
  fileOf: FileOf,
): Promise<readonly Check[] | null> {
  const checks = entry.get('checks');
  const answer = entry.get('answer');
  if (checks !== undefined && answer !== undefined) {
    source.problem(answer, 'both an answer and checks', 'move the answer into the checks, as {"equals": …}');
    return null;
  }
  if (checks !== undefined) return readChecks(source, checks, fileOf);
  if (answer === undefined) {
    if (entry.get('should_trigger') !== undefined) return [];
    if (!entry.meant.has('answer') && !entry.meant.has('checks'))
      source.problem(node, 'a task without checks: nothing would score it', 'add "answer": "…", or "checks": […]');
    return null;
  }
  if (answer.type === 'number') {
    const value = source.number(answer, 'answer', 'a number', () => true);
    return value === null ? null : [{ weight: 1, after: null, kind: 'number', value, tolerance: 0 }];
  }
  const value = source.string(answer, 'answer');
  return value === null ? null : [{ weight: 1, after: null, kind: 'equals', value, ignoreCase: false }];
}

/** JSON with the keys of every object in order: the same content gives the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}
