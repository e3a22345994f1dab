import type { Protocol } from '../../../ports/gateway.ts';
import type { AgentModel } from '../agent.ts';

/** The name of the provider that is written into an agent's config, where it has none of its own that fits. */
export const ownProvider = 'skillopt';

/** The variable that carries the rollout's key; configs name it. */
export const keyVariable = 'SKILLOPT_KEY';

/** Vendors whose models agents know by themselves: how they think, what they take. Only under the vendor's own API. */
const vendors: Readonly<Record<string, { readonly protocol: Protocol; readonly models: RegExp }>> = {
  anthropic: { protocol: 'messages', models: /^claude-/ },
  openai: { protocol: 'responses', models: /^(gpt-|o\d|chatgpt-|codex-)/ },
  google: { protocol: 'gemini', models: /^gemini-/ },
};

/**
 * The vendor under whose name an agent is given the model, so that it treats the model as it does on its user's machine;
 * null = the model is described as an unknown one. Another's model behind a vendor's API is an unknown one, too.
 */
export function vendorOf(model: AgentModel, protocol: Protocol): string | null {
  const [provider = ''] = model.id.split('/', 1);
  const vendor = Object.hasOwn(vendors, provider) ? vendors[provider] : undefined;
  return vendor?.protocol === protocol && vendor.models.test(model.name) ? provider : null;
}

/** Tokens that an unknown model takes in all, and writes at most in one answer. */
export function roomOf(model: AgentModel): { readonly contextTokens: number; readonly answerTokens: number } {
  const contextTokens = model.contextTokens ?? 128_000;
  // half of a small model's room would be reserved for one answer
  const answerTokens = model.maxOutputTokens ?? Math.min(16_384, Math.ceil(contextTokens / 4));
  return { contextTokens, answerTokens };
}

/** The entries under names of letters, digits and dashes, which every agent takes, each name once. */
export function plainlyNamed<T>(entries: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  const taken = new Set<string>();
  return Object.entries(entries).map(([name, value]) => {
    const plain = name.replace(/[^A-Za-z0-9-]/g, '-');
    let free = plain;
    for (let n = 2; taken.has(free); n++) free = `${plain}-${n}`;
    taken.add(free);
    return [free, value];
  });
}

/** A config file's text. */
export const jsonText = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
