import type { Protocol } from '../ports/gateway.ts';

/** How a service over HTTP is spoken to and paid. */
export type Service = {
  readonly protocol: 'anthropic' | 'openai';
  /** The APIs that it is known to speak to agents. */
  readonly speaks: readonly Protocol[];
  /** Null: the settings have to name it. */
  readonly baseUrl: string | null;
  /** The variable that holds the key; null = none is needed. */
  readonly keyEnv: string | null;
  /** The service's name in the price list; null = its models have no known price. */
  readonly priceProvider: string | null;
  /** Whether its answers tell what they cost. */
  readonly tellsCost: boolean;
  /** The parameter that bounds an answer: older and compatible servers know `max_tokens` alone. */
  readonly bound: 'max_tokens' | 'max_completion_tokens';
  /** How a call of one tool is asked for: by its name, or as *required* with that tool alone. */
  readonly mustCall: 'named' | 'required';
};

const compatible = {
  protocol: 'openai',
  speaks: ['chat'],
  tellsCost: false,
  bound: 'max_tokens',
  mustCall: 'named',
} as const;

/** The services that this program knows by the prefix of a model's name. */
export const services: Readonly<Record<string, Service>> = {
  anthropic: {
    protocol: 'anthropic',
    speaks: ['messages'],
    baseUrl: 'https://api.anthropic.com',
    keyEnv: 'ANTHROPIC_API_KEY',
    priceProvider: 'anthropic',
    tellsCost: false,
    bound: 'max_tokens',
    mustCall: 'named',
  },
  openai: {
    protocol: 'openai',
    speaks: ['chat', 'responses'],
    baseUrl: 'https://api.openai.com/v1',
    keyEnv: 'OPENAI_API_KEY',
    priceProvider: 'openai',
    tellsCost: false,
    bound: 'max_completion_tokens',
    mustCall: 'named',
  },
  cerebras: {
    ...compatible,
    baseUrl: 'https://api.cerebras.ai/v1',
    keyEnv: 'CEREBRAS_API_KEY',
    priceProvider: 'cerebras',
  },
  deepseek: {
    ...compatible,
    baseUrl: 'https://api.deepseek.com',
    keyEnv: 'DEEPSEEK_API_KEY',
    priceProvider: 'deepseek',
  },
  fireworks: {
    ...compatible,
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyEnv: 'FIREWORKS_API_KEY',
    priceProvider: 'fireworks',
  },
  google: {
    ...compatible,
    speaks: ['gemini', 'chat'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyEnv: 'GEMINI_API_KEY',
    priceProvider: 'google',
  },
  groq: {
    ...compatible,
    baseUrl: 'https://api.groq.com/openai/v1',
    keyEnv: 'GROQ_API_KEY',
    priceProvider: 'groq',
  },
  mistral: {
    ...compatible,
    baseUrl: 'https://api.mistral.ai/v1',
    keyEnv: 'MISTRAL_API_KEY',
    priceProvider: 'mistral',
  },
  moonshot: {
    ...compatible,
    baseUrl: 'https://api.moonshot.ai/v1',
    keyEnv: 'MOONSHOT_API_KEY',
    priceProvider: 'moonshotai',
  },
  openrouter: {
    ...compatible,
    baseUrl: 'https://openrouter.ai/api/v1',
    keyEnv: 'OPENROUTER_API_KEY',
    priceProvider: 'openrouter',
    tellsCost: true,
  },
  together: {
    ...compatible,
    baseUrl: 'https://api.together.xyz/v1',
    keyEnv: 'TOGETHER_API_KEY',
    priceProvider: 'together',
  },
  xai: { ...compatible, baseUrl: 'https://api.x.ai/v1', keyEnv: 'XAI_API_KEY', priceProvider: 'x-ai' },
  ollama: {
    ...compatible,
    baseUrl: 'http://localhost:11434/v1',
    keyEnv: null,
    priceProvider: null,
    mustCall: 'required',
  },
  'openai-compatible': { ...compatible, baseUrl: null, keyEnv: null, priceProvider: null, mustCall: 'required' },
};

/** Every prefix that a model's name may have. */
export const providerNames: readonly string[] = [...Object.keys(services), 'command'];
