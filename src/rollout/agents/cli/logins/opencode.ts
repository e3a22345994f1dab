import { join } from 'node:path';
import type { CliLogin, CliLoginOptions } from '../cli-kind.ts';
import { textOf } from './login-file.ts';
import { providerLogin } from './provider-login.ts';

/** opencode's login: that of the model's provider in `auth.json`. Its plugins for logins have to be on. */
export function opencodeLogin(o: CliLoginOptions): Promise<CliLogin> {
  const data = textOf(o.variables.XDG_DATA_HOME) ?? join(o.hostHome, '.local', 'share');
  return providerLogin(
    { name: 'opencode', logIn: '`opencode auth login`', renewedBy: '`opencode`' },
    join(data, 'opencode', 'auth.json'),
    '.local/share/opencode/auth.json',
    o,
  );
}
