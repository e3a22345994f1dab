import { isInnerPath, MOST_FILE_BYTES } from '../prompt-files.ts';
import { PROMPT_PACK_FILE } from '../prompt-pack.ts';
import { checkOfExpectation } from './expectation-text.ts';
import { REPORT_FILE } from './import-report.ts';
import type { CheckEntry, PackFile, PromptDraft, PromptImport } from './imported.ts';
import { type Located, locatedJson, type Path } from './located.ts';
import { Losses } from './losses.ts';
import type { SourceFiles } from './source-files.ts';
import { isRecord, scalarText, slug } from './texts.ts';
import { SPLITS_FILE } from './write-prompts.ts';

/** Lists of statements about the answer; the last ones are other tools’ words for it. */
const statementKeys = ['expectations', 'assertions', 'expect', 'checks', 'graders', 'scorers'];
const evalKeys = ['eval_name', 'files', 'id', 'name', 'prompt', 'query', 'should_trigger', ...statementKeys];
/** Files that every pack may have of its own. */
const packNames: readonly string[] = [PROMPT_PACK_FILE, REPORT_FILE, SPLITS_FILE];

/** A file of evals or of prompts with `should_trigger`, and where the files that it names start from. */
export type EvalsSource = {
  /** As `files` knows it. */
  readonly file: string;
  readonly text: string;
  /** Folders from which the names of files may start, nearest first, relative to the root of `files`. */
  readonly bases: readonly string[];
};

/**
 * Reads the evals of a skill: `{"skill_name": …, "evals": [{id, prompt, expected_output, files, expectations}]}`, and
 * lists of `{query, should_trigger}`. An eval without a check that could be carried over becomes no task, unless it says
 * whether the skill is meant for it.
 */
export async function readSkillCreator(sources: readonly EvalsSource[], files: SourceFiles): Promise<PromptImport> {
  const losses = new Losses();
  const tasks: PromptDraft[] = [];
  const packFiles = new Map<string, PackFile>();
  let entries = 0;
  for (const source of sources) {
    const found = locatedJson(source.file, source.text);
    const reader = new EvalsReader(found, source, files, losses, packFiles);
    for (const [path, entry] of entriesOf(found.value)) {
      entries++;
      const task = await reader.task(entry, path);
      if (task !== null) tasks.push(task);
    }
    if (isRecord(found.value))
      for (const key of Object.keys(found.value))
        if (key !== 'evals' && key !== 'skill_name')
          losses.unused(found.place([key]), key, 'it says nothing about tasks');
  }
  return { kind: 'prompts', tasks, files: [...packFiles.values()], losses: losses.all(), entries };
}

function entriesOf(value: unknown): readonly (readonly [Path, unknown])[] {
  if (Array.isArray(value)) return value.map((entry: unknown, index) => [[index], entry] as const);
  if (!isRecord(value) || !Array.isArray(value.evals)) return [];
  return value.evals.map((entry: unknown, index) => [['evals', index], entry] as const);
}

/** Whether a value looks like such evals, or like a list of prompts with `should_trigger`. */
export function isSkillCreator(value: unknown): boolean {
  if (isRecord(value)) return Array.isArray(value.evals);
  return (
    Array.isArray(value) && value.length > 0 && value.every((entry) => isRecord(entry) && 'should_trigger' in entry)
  );
}

class EvalsReader {
  private number = 0;

  constructor(
    private readonly found: Located,
    private readonly source: EvalsSource,
    private readonly files: SourceFiles,
    private readonly losses: Losses,
    private readonly packFiles: Map<string, PackFile>,
  ) {}

  async task(entry: unknown, path: Path): Promise<PromptDraft | null> {
    this.number++;
    const where = this.found.place(path);
    const isEval = !isRecord(entry) || !('query' in entry);
    const name = `${isEval ? 'eval' : 'query'} ${(isRecord(entry) ? scalarText(entry.id) : null) ?? this.number}`;
    const left = (why: string) => {
      this.losses.left(where, name, why);
      return null;
    };
    if (!isRecord(entry)) return left('it is no object');
    const prompt = entry.prompt ?? entry.query;
    if (typeof prompt !== 'string' || prompt.trim() === '') {
      this.leaveExpectations(entry, path, name);
      return left('it has no prompt');
    }
    const trigger = entry.should_trigger;
    if (trigger !== undefined && typeof trigger !== 'boolean') return left('should_trigger is neither true nor false');
    const shown = await this.shownFiles(entry.files);
    if (typeof shown === 'string') {
      this.leaveExpectations(entry, path, name);
      return left(shown);
    }
    const checks = this.checks(entry, path, name);
    this.tellRest(entry, where);
    if (checks.length === 0 && trigger === undefined)
      return left('nothing in it can be checked without a judge, and it does not say should_trigger: no task');
    return {
      id: this.idOf(entry, prompt, isEval),
      where,
      prompt,
      ...(shown.length > 0 ? { files: shown } : {}),
      checks,
      ...(trigger === undefined ? {} : { shouldTrigger: trigger }),
    };
  }

  private idOf(entry: Readonly<Record<string, unknown>>, prompt: string, isEval: boolean): string {
    const named = scalarText(entry.name ?? entry.eval_name) ?? scalarText(entry.id);
    if (named !== null) return /^\d+$/.test(named) ? `${isEval ? 'eval' : 'query'}-${named}` : named;
    return isEval ? `eval-${this.number}` : slug(prompt, 50) || `query-${this.number}`;
  }

  private expectations(entry: Readonly<Record<string, unknown>>): readonly (readonly [Path, unknown])[] {
    return statementKeys.flatMap((key): readonly (readonly [Path, unknown])[] => {
      const list = entry[key];
      if (typeof list === 'string') return [[[key], list]];
      return Array.isArray(list) ? list.map((one: unknown, index) => [[key, index], one] as const) : [];
    });
  }

  private checks(entry: Readonly<Record<string, unknown>>, path: Path, name: string): readonly CheckEntry[] {
    return this.expectations(entry).flatMap(([inner, given]) => {
      const made = checkOfExpectation(given);
      if (made.ok) return [made.check];
      this.losses.left(this.found.place([...path, ...inner]), `${name}: ${shownExpectation(given)}`, made.why);
      return [];
    });
  }

  private leaveExpectations(entry: Readonly<Record<string, unknown>>, path: Path, name: string): void {
    for (const [inner, given] of this.expectations(entry))
      this.losses.leftWith(this.found.place([...path, ...inner]), `${name}: ${shownExpectation(given)}`, 'eval');
  }

  /** Names of the files in the pack; a sentence if one can't be shown to a model as text. */
  private async shownFiles(given: unknown): Promise<readonly string[] | string> {
    const names = Array.isArray(given) ? (given as readonly unknown[]) : given == null ? [] : [given];
    const shown: string[] = [];
    for (const name of names) {
      if (typeof name !== 'string') return 'its files are no list of names';
      const found = await this.readFirst(name);
      if (typeof found === 'string') return `its input can not be shown: ${found}`;
      this.packFiles.set(found.name, found);
      if (!shown.includes(found.name)) shown.push(found.name);
    }
    return shown;
  }

  private async readFirst(name: string): Promise<PackFile | string> {
    let why = `${name} is not there`;
    for (const base of this.source.bases) {
      const reading = await this.files.read(base === '' ? name : `${base}/${name}`, MOST_FILE_BYTES);
      if (reading.ok && (!isInnerPath(reading.name) || packNames.includes(reading.name)))
        return `${name} has a name that no file of a pack can have`;
      if (reading.ok) return { name: reading.name, bytes: reading.bytes };
      if (!reading.why.endsWith('is not there')) why = reading.why;
    }
    return why;
  }

  private tellRest(entry: Readonly<Record<string, unknown>>, where: string): void {
    for (const key of Object.keys(entry)) {
      if (key === 'expected_output') this.losses.unused(where, key, 'it describes the result in words; checks do not');
      else if (!evalKeys.includes(key)) this.losses.unused(where, `${key} of an eval`, 'a key that is not known here');
    }
  }
}

function shownExpectation(given: unknown): string {
  return typeof given === 'string' ? `“${given}”` : JSON.stringify(given);
}
