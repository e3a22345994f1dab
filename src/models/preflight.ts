import { nearest } from '../config/nearest.ts';
import type { Finding } from '../ports/preflight.ts';
import { type Endpoint, keyProblem } from './endpoint.ts';
import { networkCode } from './http-troubles.ts';

/** How long a server may take to list its models: no longer than for an answer. */
const listMs = (endpoint: Endpoint) => Math.min(5_000, endpoint.firstByteMs);

/**
 * What must hold before a model over HTTP is called: its key is there, and its server answers. The list of models is
 * asked for, which costs nothing; a server without one is none the worse.
 */
export async function preflightHttp(endpoint: Endpoint): Promise<readonly Finding[]> {
  const problem = keyProblem(endpoint);
  if (problem !== null) return [{ level: 'error', what: problem.what, where: endpoint.where, fix: problem.fix }];
  return [...seedFindings(endpoint), ...(await listFindings(endpoint))];
}

function seedFindings(endpoint: Endpoint): readonly Finding[] {
  if (endpoint.settings.sendSeed !== true || endpoint.service.protocol !== 'anthropic') return [];
  return [{ level: 'warning', what: 'this provider takes no seed', where: endpoint.where, fix: 'take out "sendSeed"' }];
}

async function listFindings(endpoint: Endpoint): Promise<readonly Finding[]> {
  const { where, settings } = endpoint;
  const list = await listModels(endpoint);
  switch (list.kind) {
    case 'listed':
      return [modelFinding(endpoint, list.models)];
    case 'answered':
      return [{ level: 'ok', what: 'the server answers', where, fix: '' }];
    case 'refused-key':
      return [
        {
          level: 'error',
          what: `the key was refused (${list.status})`,
          where,
          fix:
            endpoint.keyEnv === null
              ? 'name the variable that holds the key with "keyEnv"'
              : `check the key in ${endpoint.keyEnv}`,
        },
      ];
    case 'failing':
      return [
        { level: 'warning', what: `the server answers with ${list.status}`, where, fix: 'wait until it is ready' },
      ];
    case 'slow':
      return [
        {
          level: 'warning',
          what: `the server did not answer within ${listMs(endpoint) / 1000} s`,
          where,
          fix: 'check that it runs',
        },
      ];
    case 'unreachable':
      return [
        {
          level: 'error',
          what: `no connection${list.code === '' ? '' : ` (${list.code})`}`,
          where,
          fix: settings.baseUrl === undefined ? 'check the network' : 'start the server, or check "baseUrl"',
        },
      ];
    default: {
      const never: never = list;
      return never;
    }
  }
}

type Listing =
  | { readonly kind: 'listed'; readonly models: readonly string[] }
  | { readonly kind: 'answered' }
  | { readonly kind: 'refused-key' | 'failing'; readonly status: number }
  | { readonly kind: 'slow' }
  | { readonly kind: 'unreachable'; readonly code: string };

async function listModels(endpoint: Endpoint): Promise<Listing> {
  const { service, baseUrl, key } = endpoint;
  const anthropic = service.protocol === 'anthropic';
  const headers = { authorization: `Bearer ${key ?? ''}`, 'anthropic-version': '2023-06-01' };
  const signal = AbortSignal.timeout(listMs(endpoint));
  try {
    const response = await fetch(`${baseUrl}${anthropic ? '/v1/models' : '/models'}`, { headers, signal });
    const { status } = response;
    const body: unknown = await response.json().catch(() => null);
    if (status === 401 || status === 403) return { kind: 'refused-key', status };
    if (status >= 500 || status === 429) return { kind: 'failing', status };
    const models = anthropic ? [] : idsOf(body);
    return status === 200 && models.length > 0 ? { kind: 'listed', models } : { kind: 'answered' };
  } catch (error) {
    return signal.aborted ? { kind: 'slow' } : { kind: 'unreachable', code: networkCode(error) };
  }
}

function idsOf(body: unknown): readonly string[] {
  const list = Array.isArray(body) ? body : ((body ?? {}) as { data?: unknown }).data;
  if (!Array.isArray(list)) return [];
  return list.map((m: unknown) => ((m ?? {}) as { id?: unknown }).id).filter((id) => typeof id === 'string');
}

function modelFinding({ model, where }: Endpoint, models: readonly string[]): Finding {
  // one service lists its models by a path
  if (models.some((m) => m === model || m === `models/${model}` || m === `${model}:latest`))
    return { level: 'ok', what: 'the server answers and has the model', where, fix: '' };
  const near = nearestModels(model, models);
  return {
    level: 'warning',
    what: `the server does not list the model ${model}`,
    where,
    fix: `check its name; the server lists ${near.join(', ')}${models.length > near.length ? ', …' : ''}`,
  };
}

function nearestModels(model: string, models: readonly string[]): readonly string[] {
  const near = nearest(model, models);
  const alike = models.filter((m) => m.toLowerCase().includes(model.toLowerCase()));
  const found = [...new Set([...(near === null ? [] : [near]), ...alike])];
  return (found.length > 0 ? found : models).slice(0, 3);
}
