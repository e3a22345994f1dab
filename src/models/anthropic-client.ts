import { BaseAnthropic, type ClientOptions } from '@anthropic-ai/sdk/client';
import type { Stream } from '@anthropic-ai/sdk/core/streaming';
import type {
  MessageCreateParamsStreaming,
  RawMessageStreamEvent,
} from '@anthropic-ai/sdk/resources/messages/messages';

/**
 * Streams one message by the core of the official client. The whole client is ten times as large, and its `create`
 * writes to the terminal when a model is about to be retired.
 */
export function streamMessage(
  options: ClientOptions,
  body: MessageCreateParamsStreaming,
): PromiseLike<Stream<RawMessageStreamEvent>> {
  return new BaseAnthropic(options).post<Stream<RawMessageStreamEvent>>('/v1/messages', { body, stream: true });
}
