import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SkilloptError } from '../../../../ports/failure.ts';
import type { CliLogin, CliLoginOptions } from '../cli-kind.ts';

/** When the logins of a test are looked at. */
export const NOW_MS = Date.parse('2026-12-01T12:00:00Z');
const HOUR_MS = 3_600_000;

/** Never to be found in what an agent is given. */
export const REFRESH = 'made-up-refresh-token';

/** A token that says of itself what is given. */
export function jwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return [part({ alg: 'none' }), part(claims), part({ of: 'nobody' })].join('.');
}

/** Of an account of ChatGPT, held for so long from now on. */
export function chatgptToken(holdsMs: number): string {
  return jwt({
    exp: Math.floor((NOW_MS + holdsMs) / 1000),
    'https://api.openai.com/auth': { chatgpt_account_id: 'account-1', chatgpt_plan_type: 'plus' },
  });
}

/** A home with files in it, gone with `close`. */
export class LoginHome {
  readonly dir = mkdtempSync(join(tmpdir(), 'skillopt-logins-'));

  write(path: string, content: unknown): string {
    const file = join(this.dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  options(more: Partial<CliLoginOptions> = {}): CliLoginOptions {
    return { hostHome: this.dir, variables: {}, model: null, outlivesMs: HOUR_MS, nowMs: NOW_MS, ...more };
  }

  /** Every file with its bytes and the times at which it and its folder were changed. */
  get look(): unknown {
    return readdirSync(this.dir, { recursive: true, withFileTypes: true })
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const { mtimeMs, ctimeMs, mode } = statSync(path);
        return { path, mtimeMs, ctimeMs, mode, bytes: entry.isFile() ? readFileSync(path, 'utf8') : null };
      })
      .sort((a, b) => a.path.localeCompare(b.path));
  }

  close(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** What a login's file in the agent's home says. */
export function fileOf(login: CliLogin, path: string): unknown {
  return JSON.parse(login.homeFiles[path] ?? 'null');
}

/** The failure of a login that is refused. */
export async function refusal(login: Promise<CliLogin>): Promise<SkilloptError['failure']> {
  try {
    await login;
  } catch (e) {
    if (e instanceof SkilloptError) return e.failure;
    throw e;
  }
  throw new Error('the login was not refused');
}
