import type { Protocol } from '../../ports/gateway.ts';

/** How one of Harbor's agents talks to its model. */
export type AgentSpeech = {
  /** The APIs that it can speak, the one that it is best with first. */
  readonly speaks: readonly Protocol[];
  /** Those that Harbor lets it be told by `model_api_format`; in the others it has one way. */
  readonly formats: readonly Protocol[];
  /** Whether its requests come out of the trial, or out of Harbor's own process on this machine. */
  readonly callsFrom: 'trial' | 'harbor';
  /** The address of an endpoint in the form that its client takes. */
  readonly baseUrl: (url: string, protocol: Protocol) => string;
};

const bare = (url: string) => url.replace(/\/+$/, '');
const versionOfGoogle = /\/(v1beta\/openai|v1beta|openai|v1)$/;

/** Most clients put the version of Anthropic's and Google's API behind the address themselves. */
function withoutVersion(url: string, protocol: Protocol): string {
  if (protocol === 'messages') return bare(url).replace(/\/v1$/, '');
  return protocol === 'gemini' ? bare(url).replace(versionOfGoogle, '') : bare(url);
}

/** The AI SDK wants it as a part of the address. */
function withVersion(url: string, protocol: Protocol): string {
  if (protocol === 'messages') return `${withoutVersion(url, protocol)}/v1`;
  return protocol === 'gemini' ? `${withoutVersion(url, protocol)}/v1beta` : bare(url);
}

/** As Harbor 0.26 has them. */
const known: Readonly<Record<string, AgentSpeech>> = {
  'claude-code': { speaks: ['messages'], formats: ['messages'], callsFrom: 'trial', baseUrl: withoutVersion },
  codex: { speaks: ['responses'], formats: ['responses'], callsFrom: 'trial', baseUrl: withoutVersion },
  pi: {
    speaks: ['chat', 'messages', 'responses', 'gemini'],
    formats: ['chat', 'messages', 'responses'],
    callsFrom: 'trial',
    baseUrl: withoutVersion,
  },
  opencode: {
    speaks: ['chat', 'messages', 'gemini'],
    formats: ['chat', 'messages'],
    callsFrom: 'trial',
    baseUrl: withVersion,
  },
  'gemini-cli': { speaks: ['gemini'], formats: ['gemini'], callsFrom: 'trial', baseUrl: withoutVersion },
  'terminus-2': {
    speaks: ['chat', 'messages', 'responses', 'gemini'],
    formats: ['chat', 'messages', 'responses'],
    callsFrom: 'harbor',
    baseUrl: withoutVersion,
  },
};

/** How an agent of Harbor's talks to its model; null = only Harbor knows. */
export function harborAgentSpeech(agent: string): AgentSpeech | null {
  return Object.hasOwn(known, agent) ? (known[agent] ?? null) : null;
}
