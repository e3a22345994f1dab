import { ROUND_TRIP_SYSTEM } from '../../models/round-trip.ts';
import { type Fields, fields, type ScriptedTool, type ScriptedTurn } from './scripted-turn-fixture.ts';

// What the scripted model answers: a function of the request alone, so that any number of rollouts run side by side.

export type ScriptedCall = { readonly tool: ScriptedTool; readonly input: Fields };
export type ScriptedAnswer = { readonly text: string; readonly call?: ScriptedCall | undefined };

/**
 * `obey`: reads the skill that is offered, then runs each line `DO: <command>` that it has seen, in order, in the agent's
 * shell, and says the line `SAY: <text>` at last · `ignore`: the same without reading the skill · `loop`: calls the shell
 * for ever · `sleep`: a command that leaves a child and does not end, once more if the
 * agent stops waiting for it · `silent`: an empty answer.
 */
export type ScriptedPlay = 'obey' | 'ignore' | 'loop' | 'sleep' | 'silent';

/** The tools by which agents run commands, open skills and read files, by their names. */
const shells = ['exec_command', 'Bash', 'bash', 'run_shell_command', 'shell'];
const openers = ['Skill', 'skill', 'activate_skill'];
const readers = ['Read', 'read', 'read_file'];

/** A skill with this word in its description is the one that is meant. */
const meant = 'SCRIPTED';

export function scriptedAnswer(
  play: ScriptedPlay | ((turn: ScriptedTurn) => ScriptedAnswer),
  turn: ScriptedTurn,
): ScriptedAnswer {
  if (turn.system.includes(ROUND_TRIP_SYSTEM)) return { text: /: (\w+)$/.exec(turn.user)?.[1] ?? '' };
  // titles, summaries and the like
  if (turn.tools.length === 0) return { text: 'a side answer' };
  if (typeof play === 'function') return play(turn);
  switch (play) {
    case 'loop':
      return { text: '', call: shellCall(turn, `echo loop ${turn.results.length}`) };
    case 'sleep':
      return { text: '', call: shellCall(turn, 'touch started; sleep 300 & wait') };
    case 'silent':
      return { text: '' };
    case 'obey':
    case 'ignore':
      return obey(turn, play === 'obey');
    default:
      return play satisfies never;
  }
}

function obey(turn: ScriptedTurn, reads: boolean): ScriptedAnswer {
  if (reads && turn.results.length === 0) {
    const call = skillCall(turn);
    if (call !== undefined) return { text: 'I read the skill first.', call };
  }
  const seen = [turn.user, ...turn.results, turn.system].join('\n').replaceAll('\\n', '\n');
  const commands = [...seen.matchAll(/^[^\S\n]*(?:\d+[\t→:|]\s*)?DO:[ \t]*(.+?)\s*$/gm)].map((m) =>
    m[1]!.replaceAll('\\"', '"'),
  );
  const next = commands.find((command) => !wasRun(turn, command));
  if (next !== undefined) return { text: '', call: shellCall(turn, next) };
  return { text: (/SAY:[ \t]*(.+)/.exec(seen)?.[1] ?? (turn.calls.length > 0 ? 'done' : 'no skill seen')).trim() };
}

export function wasRun({ calls }: ScriptedTurn, command: string): boolean {
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1);
  const forms = [quoted(command), quoted(JSON.stringify(command))];
  return calls.some((input) => forms.some((form) => JSON.stringify(input).includes(form)));
}

const toolNamed = ({ tools }: ScriptedTurn, names: readonly string[]) =>
  names.map((name) => tools.find((tool) => tool.name === name)).find((tool) => tool !== undefined);

export function shellCall(turn: ScriptedTurn, command: string): ScriptedCall | undefined {
  const tool = toolNamed(turn, shells);
  if (tool === undefined) return codeCall(turn, command);
  const properties = fields(tool.schema.properties);
  const key = ['command', 'cmd'].find((name) => name in properties) ?? 'command';
  return { tool, input: filled(tool, { [key]: command }) };
}

/** A command as code, where the agent takes code alone. */
function codeCall({ tools }: ScriptedTurn, command: string): ScriptedCall | undefined {
  const tool = tools.find(({ name, kind }) => name === 'exec' && kind === 'custom');
  const code = `const r = await tools.exec_command({cmd: ${JSON.stringify(command)}}); text(JSON.stringify(r));`;
  return tool === undefined ? undefined : { tool, input: { raw: code } };
}

/** The call that opens a skill which is offered: the one that is meant, or the one of a name. */
export function skillCall(turn: ScriptedTurn, named?: string): ScriptedCall | undefined {
  const isMeant = ({ name, description }: Offered) =>
    named === undefined ? description.includes(meant) : name === named;
  const skill = offered(turn).find(isMeant);
  if (skill === undefined) return undefined;
  const opener = toolNamed(turn, openers);
  if (opener !== undefined) return { tool: opener, input: filled(opener, { [keyOf(opener, ['skill'])]: skill.name }) };
  const reader = toolNamed(turn, readers);
  if (reader === undefined) return shellCall(turn, `cat ${skill.path}`);
  return { tool: reader, input: filled(reader, { [keyOf(reader, ['file_path', 'path'])]: skill.path }) };
}

function keyOf({ schema }: ScriptedTool, names: readonly string[]): string {
  const properties = fields(schema.properties);
  return [...names, 'name'].find((name) => name in properties) ?? 'name';
}

type Offered = { readonly name: string; readonly description: string; readonly path: string };

/** Every skill that the request offers, in the forms that agents use. */
function offered({ system, user, tools }: ScriptedTurn): readonly Offered[] {
  const all = [system, user, ...tools.map(({ description }) => description)].join('\n');
  const tagged =
    /<name>\s*([^<]+?)\s*<\/name>\s*<description>\s*([^<]*?)\s*<\/description>(?:\s*<location>\s*([^<]*?)\s*<\/location>)?/g;
  const listed = /^\s*-\s+([a-z0-9][a-z0-9:_-]*):\s+(.*?)(?:\s+\(file:\s*([^)]+)\))?$/gm;
  return [...all.matchAll(tagged), ...all.matchAll(listed)].map(([, name = '', description = '', path = '']) => {
    const [alias = ''] = /^r\d+(?=\/)/.exec(path) ?? [];
    const root = alias === '' ? undefined : new RegExp(`\`${alias}\`\\s*=\\s*\`([^\`]+)\``).exec(all)?.[1];
    return { name, description, path: root === undefined ? path : `${root}${path.slice(alias.length)}` };
  });
}

/** Fills in what the tool wants and the script does not care about. */
function filled({ schema }: ScriptedTool, input: Fields): Fields {
  const properties = fields(schema.properties);
  const wanted = Array.isArray(schema.required) ? schema.required.filter((name) => !(name in input)) : [];
  return { ...input, ...Object.fromEntries(wanted.map((name) => [name, anyOf(fields(properties[name]))])) };
}

function anyOf({ type, enum: choices, anyOf: forms }: Fields): unknown {
  const types = [type, ...(Array.isArray(forms) ? forms.map((form) => fields(form).type) : [])].flat();
  if (types.includes('null')) return null;
  if (Array.isArray(choices)) return choices[0];
  switch (types[0]) {
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'scripted';
  }
}
