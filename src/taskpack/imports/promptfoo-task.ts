import type { PromptDraft } from './imported.ts';
import type { Located, Path } from './located.ts';
import type { Losses } from './losses.ts';
import { checksOf, type FoundAssert } from './promptfoo-checks.ts';
import type { PromptForm } from './promptfoo-prompts.ts';
import type { FoundTest } from './promptfoo-tests.ts';
import { variablesOf } from './promptfoo-variables.ts';
import type { SourceFiles } from './source-files.ts';
import { render, resolved, type Variables } from './templates.ts';
import { isRecord, scalarText } from './texts.ts';

/** Keys of a test that are read; another one says nothing about the task, or is told by itself. */
const usedInTest = ['assert', 'description', 'options', 'prompts', 'threshold', 'vars'];

/** What all tests have in common, with the place of its parts. */
export type Defaults = { readonly test: Readonly<Record<string, unknown>>; readonly place: (path: Path) => string };

/** Reads one test of a source into tasks. What of it can't be carried over is told in `losses`. */
export class TestReader {
  private readonly name: string;
  private readonly where: string;
  private readonly test: Readonly<Record<string, unknown>>;
  private readonly options: Readonly<Record<string, unknown>>;

  constructor(
    private readonly number: number,
    private readonly found: FoundTest,
    private readonly base: Defaults,
    private readonly config: Located,
    private readonly files: SourceFiles,
    private readonly losses: Losses,
  ) {
    this.test = found.test;
    this.name = `test ${number}`;
    this.where = found.place([]);
    const [own, all] = [found.test.options, base.test.options];
    this.options = { ...(isRecord(all) ? all : {}), ...(isRecord(own) ? own : {}) };
  }

  /** The tasks of the test with this prompt (null: there is none for it), and how many there would be if all went well. */
  async tasks(form: PromptForm | null): Promise<{ readonly tasks: readonly PromptDraft[]; readonly entries: number }> {
    const why = this.whyNot(form);
    const variables = why === null ? await this.variables() : { ok: false as const, why };
    if (form === null || !variables.ok) {
      this.losses.left(this.where, this.name, variables.ok ? 'it has no prompt' : variables.why);
      for (const { name, place } of this.asserts()) this.losses.leftWith(place([]), name, 'test');
      return { tasks: [], entries: 1 };
    }
    this.tellRest();
    const tasks: PromptDraft[] = [];
    for (const [index, one] of variables.all.entries()) {
      const task = await this.task(form, one, variables.all.length > 1 ? index + 1 : null);
      if (task !== null) tasks.push(task);
    }
    return { tasks, entries: variables.all.length };
  }

  /** Why there can be no task of the test, whatever its variables. */
  private whyNot(form: PromptForm | null): string | null {
    if (form === null) return 'there is no prompt for it that can be carried over';
    if (this.test.providerOutput !== undefined) return 'its answer is written down; there is nothing to ask a model';
    for (const key of ['transform', 'postprocess', 'transformVars'])
      if (this.options[key] !== undefined) return `a program works on what it holds (options.${key})`;
    return this.asserts().length === 0 ? 'it has no assert: nothing would score the task' : null;
  }

  private async variables() {
    const own = await variablesOf(this.test.vars, this.options.disableVarExpansion !== true, this.files);
    const all = await variablesOf(this.base.test.vars, this.options.disableVarExpansion !== true, this.files);
    if (!own.ok) return own;
    if (!all.ok) return all;
    return { ok: true as const, all: own.all.flatMap((one) => all.all.map((base) => ({ ...base, ...one }))) };
  }

  /** What else the test says. */
  private tellRest(): void {
    const threshold = this.test.threshold ?? this.base.test.threshold;
    if (typeof threshold === 'number')
      this.losses.changed(
        this.where,
        `${this.name}: threshold ${threshold}`,
        `all checks have to pass; "gate": {"passThreshold": ${threshold}} in the config holds for all tasks`,
      );
    for (const key of Object.keys({ ...this.base.test, ...this.test })) {
      if (usedInTest.includes(key)) continue;
      if (key === 'assertScoringFunction')
        this.losses.changed(this.where, `${this.name}: ${key}`, 'a program works out the score; here all checks count');
      else this.losses.unused(this.where, `${key} of a test`, 'it says nothing about the task');
    }
    for (const key of Object.keys(this.options))
      if (!['prefix', 'suffix', 'disableVarExpansion', 'disableDefaultAsserts'].includes(key))
        this.losses.unused(this.where, `options.${key}`, 'it says nothing about the task');
  }

  private asserts(): readonly (FoundAssert & { readonly shared: boolean })[] {
    const list = (given: unknown) =>
      Array.isArray(given) ? (given as readonly unknown[]) : given == null ? [] : [given];
    const own = list(this.test.assert).map((assert, index) => ({
      assert,
      shared: false,
      name: `${this.name}: assert ${index + 1}`,
      place: (path: Path) => this.found.place(['assert', index, ...path]),
    }));
    if (this.options.disableDefaultAsserts === true) return own;
    const shared = list(this.base.test.assert).map((assert, index) => ({
      assert,
      shared: true,
      name: `${this.name}: assert ${index + 1} of defaultTest`,
      place: (path: Path) => this.base.place(['assert', index, ...path]),
    }));
    return [...shared, ...own];
  }

  private async task(form: PromptForm, given: Variables, part: number | null): Promise<PromptDraft | null> {
    const name = part === null ? this.name : `${this.name}, combination ${part}`;
    const asserts = this.asserts().map((found) => ({ ...found, name: found.name.replace(this.name, name) }));
    const left = (why: string, withIt: readonly FoundAssert[] = []) => {
      for (const { name: assert, place } of withIt) this.losses.leftWith(place([]), assert, 'test');
      this.losses.left(this.where, name, why);
      return null;
    };
    const around = resolved(given);
    const [prefix, suffix] = [scalarText(this.options.prefix) ?? '', scalarText(this.options.suffix) ?? ''];
    const prompt = render(`${prefix}${form.user}${suffix}`, around.variables);
    const system = render(form.system ?? '', around.variables);
    const why = around.why ?? (prompt.ok ? (system.ok ? null : system.why) : prompt.why);
    if (why !== null || !prompt.ok || !system.ok) return left(why ?? 'its prompt can not be told', asserts);
    if (prompt.text.trim() === '') return left('its prompt is empty', asserts);
    const scoring = {
      variables: around.variables,
      files: this.files,
      losses: this.losses,
      refer: (ref: string) => refer(this.config.value, ref),
    };
    const own = asserts.filter(({ shared }) => !shared);
    const ownChecks = await checksOf(own, scoring);
    const shared = asserts.filter((found) => found.shared);
    if (own.length > 0 && ownChecks.length === 0 && shared.length > 0)
      return left(
        'none of its own asserts could be carried over: those of defaultTest alone would pass too easily',
        shared,
      );
    const checks = [...(await checksOf(shared, scoring)), ...ownChecks];
    if (checks.length === 0) return left('none of its asserts could be carried over: nothing would score the task');
    const description = scalarText(this.test.description)?.trim() || null;
    return {
      id: `${description === null ? `test-${this.number}` : description}${part === null ? '' : `-${part}`}`,
      where: this.where,
      prompt: prompt.text,
      ...(system.text === '' ? {} : { system: system.text }),
      checks,
    };
  }
}

/** Follows `#/a/b` into a value; undefined = it leads nowhere, or out of it. */
function refer(value: unknown, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined;
  let here = value;
  for (const part of ref.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(here)) here = here[Number(key)];
    else here = isRecord(here) && Object.hasOwn(here, key) ? here[key] : undefined;
  }
  return here;
}
