import { z } from 'zod';
import { protocols } from '../ports/gateway.ts';

function hasCredentials(url: string): boolean {
  const { username = '', password = '' } = URL.parse(url) ?? {};
  return username !== '' || password !== '';
}

/** How a model is reached, in full. Names are enough for the providers that this program knows. */
const modelObject = z.strictObject({
  model: z
    .string()
    .min(1)
    .describe(
      'provider/model, such as anthropic/claude-opus-4-8, openai/gpt-5, openai-compatible/qwen3-8b, command/claude',
    ),
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'is no address that begins with http:// or https://' })
    .refine((url) => !hasCredentials(url), {
      error:
        'holds a name or a password, which would stand in the log; name the variable that holds a key with "keyEnv"',
    })
    .optional()
    .describe('where an OpenAI-compatible server (or an Anthropic one) answers, such as http://localhost:8000/v1'),
  keyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is the name of an environment variable, never a key')
    .nullable()
    .optional()
    .describe('name of the environment variable that holds the key; null: the server wants none'),
  command: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('for command/NAME: a program that takes the prompt on stdin and answers on stdout, with its arguments'),
  maxOutputTokens: z.number().int().positive().optional().describe('most tokens of an answer'),
  temperature: z.number().min(0).max(2).optional().describe('as the provider has it, unless given'),
  sendSeed: z
    .boolean()
    .optional()
    .describe('true: the number of the attempt is sent as seed, for servers that draw by it'),
  protocols: z
    .array(z.enum(protocols))
    .min(1)
    .optional()
    .describe(
      'the APIs that the server speaks, where they are more than its provider is known for: messages, chat, responses, gemini',
    ),
  contextTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('tokens that the model takes in all, for agents that ask'),
  tools: z.boolean().optional().describe('false: the model takes no tools'),
  price: z
    .strictObject({
      input: z.number().nonnegative().describe('US dollars for a million tokens in'),
      output: z.number().nonnegative().describe('US dollars for a million tokens out'),
    })
    .optional()
    .describe('in place of the known price'),
  firstByteSec: z
    .number()
    .positive()
    .max(3600)
    .optional()
    .describe('seconds until the first byte of an answer (of a command: until its end)'),
  betweenSec: z.number().positive().max(3600).optional().describe('seconds between two pieces of an answer'),
});

/** A model as a config names it: `provider/model`, or an object with how it is reached. */
export const modelConfig = z.union([z.string().min(1), modelObject]);
export type ModelConfig = z.output<typeof modelConfig>;
/** How a model is reached, as an object. */
export type ModelSettings = z.output<typeof modelObject>;

/** The settings of a model that may be named by its name alone. */
export function modelSettings(config: ModelConfig): ModelSettings {
  return typeof config === 'string' ? { model: config } : config;
}

/** A model as people and logs name it. */
export function modelName(config: ModelConfig): string {
  return typeof config === 'string' ? config : config.model;
}

/** What of a model's settings decides what it answers: the name of a key, a price and patience do not. */
export function modelIdentity(config: ModelConfig): unknown {
  if (typeof config === 'string') return config;
  const {
    keyEnv: _key,
    price: _price,
    firstByteSec: _first,
    betweenSec: _between,
    protocols: _speaks,
    contextTokens: _context,
    ...rest
  } = config;
  return Object.keys(rest).length === 1 ? rest.model : rest;
}
