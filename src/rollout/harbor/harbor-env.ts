import { backendKeys } from './environments.ts';
import { NO_KEY, noKeyValue } from './harbor-model.ts';
import { environmentName, type HarborOptions } from './options.ts';
import { pythonPathOf } from './python-files.ts';

/** What Docker's client, Python and a proxy need of the host; nothing of it holds a key. */
const taken: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'SSH_AUTH_SOCK',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
];
const takenByPrefix = /^(DOCKER_|COMPOSE_|BUILDKIT_|BUILDX_|https?_proxy$|no_proxy$|all_proxy$)/i;

/**
 * The whole environment of Harbor: a few things of the host, the keys of its backend, and what config and tasks name.
 * Nothing is sent about its use, and no list of prices is fetched.
 */
export function harborEnvironment(o: HarborOptions): Readonly<Record<string, string>> {
  const named = [
    ...backendKeys(environmentName(o.environment)),
    ...(o.model?.keyName ? [o.model.keyName] : []),
    ...o.env,
    ...o.agentEnv,
    ...namesIn([o.agentVariables ?? {}]),
    ...o.tasks.flatMap((task) => namesIn([task.env.environment, task.env.verifier, task.env.solution])),
  ];
  const pythonPath = pythonPathOf(o);
  return {
    ...hostVariables(o.hostEnv, named),
    // Python would keep what it compiles in folders that are the user's
    ...(pythonPath.length === 0 ? {} : { PYTHONPATH: pythonPath.join(':'), PYTHONDONTWRITEBYTECODE: '1' }),
    ...(o.model?.keyName === NO_KEY ? { [NO_KEY]: noKeyValue } : {}),
    HARBOR_TELEMETRY: 'off',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    PYTHONUTF8: '1',
    NO_COLOR: '1',
    TYPER_STANDARD_TRACEBACK: '1',
    COLUMNS: '400',
  };
}

/** What Docker's client, Python and a proxy need of the host, and the variables of these names. */
export function hostVariables(
  hostEnv: HarborOptions['hostEnv'],
  names: readonly string[],
): Readonly<Record<string, string>> {
  const wanted = new Set([...taken, ...names]);
  const entries = Object.entries(hostEnv).flatMap(([name, value]) =>
    value !== undefined && (wanted.has(name) || takenByPrefix.test(name)) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

/** Names in values that are `${NAME}` or `${NAME:-default}`, as Harbor takes them from its environment. */
export function namesIn(envs: readonly Readonly<Record<string, string>>[]): readonly string[] {
  return envs.flatMap((env) =>
    Object.values(env).flatMap((value) => {
      const found = /^\$\{([^}:]+)(?::-.*)?\}$/s.exec(value);
      return found?.[1] === undefined ? [] : [found[1]];
    }),
  );
}
