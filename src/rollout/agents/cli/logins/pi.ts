import { join } from 'node:path';
import type { CliLogin, CliLoginOptions } from '../cli-kind.ts';
import { textOf } from './login-file.ts';
import { providerLogin } from './provider-login.ts';

/** pi's login: that of the model's provider in `auth.json`. */
export function piLogin(o: CliLoginOptions): Promise<CliLogin> {
  const named = textOf(o.variables.PI_CODING_AGENT_DIR);
  const folder = named === null ? join(o.hostHome, '.pi', 'agent') : named.replace(/^~(?=\/|$)/, o.hostHome);
  return providerLogin(
    { name: 'pi', logIn: '/login in `pi`', renewedBy: '`pi`' },
    join(folder, 'auth.json'),
    '.pi/agent/auth.json',
    o,
  );
}
