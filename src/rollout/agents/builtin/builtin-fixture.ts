import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Model, ModelMessage, ModelReply, ModelRequest } from '../../../ports/model.ts';
import type { FolderTask } from '../../../ports/task.ts';
import { runProcess } from '../../../process/run-process.ts';
import { type Play, playedModel, someUsage } from '../../chat/chat-fixture.ts';
import type { AgentRun } from '../agent.ts';
import { createBuiltinAgent } from './agent.ts';

/** A place for rollouts in plain folders; `close` removes it. */
export class Rooms {
  private readonly base = mkdtempSync(join(tmpdir(), 'skillopt-builtin-'));
  private count = 0;

  close(): void {
    rmSync(this.base, { recursive: true, force: true });
  }

  /** A rollout. Files lie in its workspace; `skill` null: the no-skill arm. */
  open(
    o: {
      readonly instruction?: string;
      readonly files?: Readonly<Record<string, string>>;
      readonly skill?: string | null;
      readonly others?: Readonly<Record<string, string>>;
      readonly signal?: AbortSignal;
      readonly timeoutMs?: number;
    } = {},
  ): AgentRun {
    const dir = join(this.base, String(this.count++));
    const workspace = join(dir, 'app');
    const home = join(dir, 'home');
    const temp = join(dir, 'tmp');
    for (const folder of [workspace, home, temp]) mkdirSync(folder, { recursive: true });
    const put = (path: string, text: string) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    };
    for (const [name, text] of Object.entries(o.files ?? {})) put(join(workspace, name), text);
    const skillDir = o.skill === null || o.skill === undefined ? null : join(dir, 'skills/harbor');
    if (skillDir !== null && o.skill) put(join(skillDir, 'SKILL.md'), o.skill);
    const others = Object.entries(o.others ?? {}).map(([name, text]) => {
      put(join(dir, 'others', name, 'SKILL.md'), text);
      return join(dir, 'others', name);
    });
    const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: home, TMPDIR: temp };
    const signal = o.signal ?? new AbortController().signal;
    return {
      workspace,
      home,
      host: { workspace, home, logDir: dir, temp },
      model: null,
      skillDir,
      ...(others.length === 0 ? {} : { otherSkills: others }),
      instruction: o.instruction ?? 'Do the task.',
      logDir: dir,
      env,
      task: { id: 'one', env: { environment: {}, verifier: {}, solution: {} } } as unknown as FolderTask,
      timeoutMs: o.timeoutMs ?? 60_000,
      signal,
      run: (command, options = {}) =>
        runProcess({
          ...options,
          command,
          cwd: options.cwd ?? workspace,
          env: { ...env, ...options.env },
          timeoutMs: options.timeoutMs ?? null,
          graceMs: 300,
          signal,
        }),
    };
  }
}

/** Calls of tools, as a reply has them. */
export function calls(...all: readonly (readonly [name: string, input: unknown])[]): ModelReply {
  const parts = all.map(([name, input], at) => ({ kind: 'tool-call', id: `c${at}`, name, input }) as const);
  return { parts, stop: 'tool', usage: someUsage };
}

export function text(said: string, more: Partial<ModelReply> = {}): ModelReply {
  return { parts: said === '' ? [] : [{ kind: 'text', text: said }], stop: 'end', usage: someUsage, ...more };
}

export const bash = (command: string) => calls(['bash', { command }]);
export const block = (command: string) => `I run it.\n\n\`\`\`bash\n${command}\n\`\`\``;

type Step = string | ModelReply | Error | ((...args: Parameters<Play>) => ReturnType<Play>);

/** A model that goes through its steps; what is asked for beyond them is a fault of the test. */
export function scriptedModel(
  steps: readonly Step[],
  more: Partial<Pick<Model, 'takesTools' | 'hasPrice'>> = {},
): Model & { readonly asked: ModelRequest[] } {
  let at = 0;
  const model = playedModel((request, options) => {
    const step = steps[at++];
    if (step === undefined) throw new Error('the model was asked more often than the test knows');
    if (step instanceof Error) throw step;
    return typeof step === 'function' ? step(request, options) : step;
  });
  return { ...model, takesTools: true, ...more };
}

export const noLimits = { requests: null, tokens: null, usd: null } as const;

/** The agent over a model of these steps, in one rollout. */
export async function perform(
  run: AgentRun,
  steps: readonly Step[],
  o: {
    readonly limits?: Partial<Parameters<typeof createBuiltinAgent>[0]['limits']>;
    readonly takesTools?: boolean;
  } = {},
) {
  const model = scriptedModel(steps, { takesTools: o.takesTools ?? true });
  const agent = createBuiltinAgent({ model, limits: { ...noLimits, ...o.limits } });
  const end = await agent.run(run);
  return { end, asked: model.asked };
}

/** What the newest message of a request holds: texts and outputs of tools. */
export function newest(request: ModelRequest | undefined): string {
  return shown(request?.messages.at(-1));
}

export function shown(message: ModelMessage | undefined): string {
  return (message?.parts ?? [])
    .map((part) => (part.kind === 'text' ? part.text : part.kind === 'tool-result' ? part.output : ''))
    .join('\n');
}
