import { BaseAnthropic, type ClientOptions } from '@anthropic-ai/sdk/client';
import { Messages } from '@anthropic-ai/sdk/resources/messages/messages';

/** The Messages of the official client, and nothing else of it: the whole client is ten times as large. */
export function messagesClient(options: ClientOptions): Messages {
  return new Messages(new BaseAnthropic(options));
}
