import type { ModelSettings } from '../../config/model.ts';
import { apiNames, type Protocol } from '../../ports/gateway.ts';
import type { Finding } from '../../ports/preflight.ts';
import { harborAgentSpeech } from './agent-speech.ts';
import {
  environmentName,
  type HarborAgent,
  type HarborEnvironment,
  type HarborModel,
  harborAgentName,
} from './options.ts';

/** What Harbor is told of the model, and what of it can't be had there. */
export type ModelForHarbor = {
  /** Null: the agent has none, or none that it can be given (then an error says why). */
  readonly model: HarborModel | null;
  /** Variables of the agent by which it is let in beside the model's key. */
  readonly agentEnv: readonly string[];
  readonly findings: readonly Finding[];
};

/** How a provider of this program's is reached from Harbor. */
type Provider = {
  /** LiteLLM's name of it, which Harbor goes by; null = it is an endpoint like any other. */
  readonly native: string | null;
  readonly keyEnv: string | null;
  readonly speaks: readonly Protocol[];
  /** Where it answers if the settings don't say; null = Harbor knows, or nobody does. */
  readonly baseUrl: string | null;
};

const native = (name: string, keyEnv: string, ...speaks: readonly Protocol[]): Provider => ({
  native: name,
  keyEnv,
  speaks,
  baseUrl: null,
});
const endpoint = (keyEnv: string | null, baseUrl: string | null): Provider => ({
  native: null,
  keyEnv,
  speaks: ['chat'],
  baseUrl,
});

const providers: Readonly<Record<string, Provider>> = {
  anthropic: native('anthropic', 'ANTHROPIC_API_KEY', 'messages'),
  openai: native('openai', 'OPENAI_API_KEY', 'chat', 'responses'),
  google: native('gemini', 'GEMINI_API_KEY', 'gemini'),
  openrouter: native('openrouter', 'OPENROUTER_API_KEY', 'chat', 'messages', 'responses'),
  cerebras: native('cerebras', 'CEREBRAS_API_KEY', 'chat'),
  deepseek: native('deepseek', 'DEEPSEEK_API_KEY', 'chat'),
  groq: native('groq', 'GROQ_API_KEY', 'chat'),
  mistral: native('mistral', 'MISTRAL_API_KEY', 'chat'),
  xai: native('xai', 'XAI_API_KEY', 'chat'),
  fireworks: endpoint('FIREWORKS_API_KEY', 'https://api.fireworks.ai/inference/v1'),
  moonshot: endpoint('MOONSHOT_API_KEY', 'https://api.moonshot.ai/v1'),
  together: endpoint('TOGETHER_API_KEY', 'https://api.together.xyz/v1'),
  ollama: endpoint(null, 'http://localhost:11434/v1'),
  'openai-compatible': endpoint(null, null),
};

/** The variable of servers that want no key: agents ask for one all the same. It is no secret. */
export const NO_KEY = 'SKILLOPT_NO_KEY';
export const noKeyValue = 'this-server-wants-no-key';

const formats: Readonly<Record<Protocol, string>> = {
  messages: 'anthropic_messages',
  chat: 'openai_chat_completions',
  responses: 'openai_responses',
  gemini: 'google_generate_content',
};

/**
 * The model of the config as Harbor and its agent want it: LiteLLM's name, the endpoint in the form that the agent's own
 * client takes, the API that both speak, and the key by the name of its variable. `settings` null: the agent has no model,
 * or its login's own. Nothing is looked up.
 */
export function harborModel(
  settings: ModelSettings | null,
  o: {
    readonly agent: HarborAgent;
    readonly environment: HarborEnvironment;
    readonly login: 'key' | 'subscription';
  },
): ModelForHarbor {
  const agent = harborAgentName(o.agent);
  if (o.login === 'subscription') return byLogin(settings, agent);
  if (settings === null) return { model: null, agentEnv: [], findings: [] };
  const [, prefix = '', id = ''] = /^([^/]+)\/(.+)$/s.exec(settings.model) ?? [];
  const provider = Object.hasOwn(providers, prefix) ? providers[prefix] : undefined;
  if (provider === undefined)
    return refused(
      prefix === 'command'
        ? 'a command is no model that an agent in Harbor could call'
        : `${settings.model} names no provider`,
      'model',
      `name one of ${Object.keys(providers).join(', ')}`,
    );
  const speech = harborAgentSpeech(agent);
  const speaks = settings.protocols ?? provider.speaks;
  const protocol = speech === null ? (speaks[0] ?? 'chat') : speech.speaks.find((one) => speaks.includes(one));
  if (speech !== null && protocol === undefined)
    return refused(
      `${agent} speaks ${names(speech.speaks)}, and ${settings.model} answers in ${names(speaks)}`,
      'model',
      settings.baseUrl === undefined
        ? 'choose a model or an agent that fit'
        : 'choose a model or an agent that fit; if its server speaks more, say so with "protocols"',
    );
  const keyName = (settings.keyEnv === undefined ? provider.keyEnv : settings.keyEnv) ?? NO_KEY;
  const given = settings.baseUrl ?? provider.baseUrl;
  const findings = ignored(settings, agent);
  if (given === null) {
    if (provider.native === null)
      return refused(
        `${settings.model} has no URL`,
        'baseUrl of the model',
        'add "baseUrl", such as "http://localhost:8000/v1"',
      );
    // pi knows Google by its own name alone, and takes it as it stands
    const name = agent === 'pi' && provider.native === 'gemini' ? 'google' : provider.native;
    return { model: { name: `${name}/${id}`, baseUrl: null, keyName, apiFormat: null }, agentEnv: [], findings };
  }
  const reached = reachedFrom(given, o.environment, speech?.callsFrom ?? 'trial');
  if (reached.error !== null) return { model: null, agentEnv: [], findings: [...findings, reached.error] };
  const spoken = protocol ?? 'chat';
  const routes = speech?.formats.includes(spoken) === true;
  return {
    model: {
      name: `${routeOf(spoken, prefix, agent)}/${id}`,
      baseUrl: speech === null ? reached.url : speech.baseUrl(reached.url, spoken),
      keyName,
      apiFormat: routes ? formats[spoken] : null,
    },
    agentEnv: [],
    findings: [...findings, ...reached.findings],
  };
}

/** The provider under which a named endpoint is asked: it decides about the client, and how the key is sent. */
function routeOf(protocol: Protocol, prefix: string, agent: string): string {
  switch (protocol) {
    case 'messages':
      // as another's than Anthropic's, Claude Code sends the key as a bearer's, which such servers want
      return agent === 'claude-code' && prefix !== 'anthropic' ? 'openai' : 'anthropic';
    case 'gemini':
      return 'gemini';
    case 'chat':
      // opencode's own provider of that name would speak Responses
      return agent === 'opencode' ? 'openai-compatible' : 'openai';
    case 'responses':
      return 'openai';
    default:
      return protocol satisfies never;
  }
}

/** An address of this machine as the agent gets there. `where`: what named it. */
export function reachedFrom(
  url: string,
  environment: HarborEnvironment,
  callsFrom: 'trial' | 'harbor',
  where = 'baseUrl of the model',
): { readonly url: string; readonly findings: readonly Finding[]; readonly error: Finding | null } {
  const host = URL.parse(url)?.hostname ?? '';
  const here = host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
  // a class of the user's own says itself what its trials reach
  if (!here || callsFrom === 'harbor' || 'importPath' in environment) return { url, findings: [], error: null };
  const name = environmentName(environment);
  if (name !== 'docker')
    return {
      url,
      findings: [],
      error: {
        level: 'error',
        what: `${url} is an address of this machine, which trials on ${name} don’t reach`,
        where,
        fix: 'name an address that they reach, or run on docker',
      },
    };
  return {
    url: url.replace(/^(https?:\/\/)(\[::1\]|[^/:?#]+)/, '$1host.docker.internal'),
    findings: [
      {
        level: 'warning',
        what: `containers reach ${url} as host.docker.internal, where a server that listens on ${host} alone does not answer`,
        where,
        fix: 'let the server listen on Docker’s bridge address (172.17.0.1) or on 0.0.0.0',
      },
    ],
    error: null,
  };
}

/** Claude Code takes its subscription by a token; of the others only files would do, which log the user out. */
function byLogin(settings: ModelSettings | null, agent: string): ModelForHarbor {
  if (agent !== 'claude-code')
    return refused(
      `the subscription of ${agent} can’t be taken into Harbor’s trials`,
      'login',
      'set "login": "key" and name a model with its key, or run on the backend local',
    );
  if (settings?.baseUrl !== undefined || (settings !== null && !settings.model.startsWith('anthropic/')))
    return refused(
      `the subscription is Anthropic’s own, and the model is ${settings?.model} at another address`,
      'model',
      'name an anthropic/ model without "baseUrl", or set "login": "key"',
    );
  return {
    model: settings === null ? null : { name: settings.model, baseUrl: null, keyName: null, apiFormat: null },
    agentEnv: ['CLAUDE_CODE_OAUTH_TOKEN'],
    findings: [],
  };
}

/** What this program's gateway does for local agents and nobody does for Harbor's. */
function ignored(settings: ModelSettings, agent: string): readonly Finding[] {
  const keys = (['temperature', 'maxOutputTokens', 'sendSeed'] as const).filter((key) => settings[key] !== undefined);
  if (keys.length === 0) return [];
  return [
    {
      level: 'warning',
      what: `${keys.join(', ')} of the model ${keys.length === 1 ? 'is' : 'are'} not sent: in Harbor ${agent} calls the model itself`,
      where: 'model',
      fix: `take ${keys.length === 1 ? 'it' : 'them'} out, or set it in the agent’s own options`,
    },
  ];
}

const names = (some: readonly Protocol[]) => some.map((one) => apiNames[one]).join(' or ');

function refused(what: string, where: string, fix: string): ModelForHarbor {
  return { model: null, agentEnv: [], findings: [{ level: 'error', what, where, fix }] };
}
