import type OpenAI from 'openai';
import type { ModelMessage, ModelRequest, ModelTool } from '../ports/model.ts';
import type { Endpoint } from './endpoint.ts';

type Body = OpenAI.ChatCompletionCreateParamsStreaming;
type Message = OpenAI.ChatCompletionMessageParam;

/** The body of a Chat Completions request. Contents are plain strings: some servers know nothing else. */
export function chatBody(request: ModelRequest, { model, settings, service }: Endpoint, withUsage: boolean): Body {
  const most = request.maxOutputTokens ?? settings.maxOutputTokens;
  const required = service.mustCall === 'required' && request.mustCall !== null;
  const tools = required ? request.tools.filter((t) => t.name === request.mustCall) : request.tools;
  return {
    model,
    stream: true,
    ...(withUsage ? { stream_options: { include_usage: true } } : {}),
    messages: [
      ...(request.system === '' ? [] : [{ role: 'system' as const, content: request.system }]),
      ...request.messages.flatMap(messagesOf),
    ],
    ...(most === undefined ? {} : { [service.bound]: most }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.sendSeed === true && request.draw !== null ? { seed: request.draw } : {}),
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
    ...(request.mustCall === null
      ? {}
      : { tool_choice: required ? 'required' : { type: 'function', function: { name: request.mustCall } } }),
  };
}

function toolOf(tool: ModelTool): OpenAI.ChatCompletionTool {
  return {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: tool.schema as OpenAI.FunctionParameters,
    },
  };
}

/** Results are messages of their own and come first: they have to follow the calls. */
function messagesOf(message: ModelMessage): readonly Message[] {
  const text = message.parts
    .filter((p) => p.kind === 'text')
    .map((p) => p.text)
    .join('\n');
  if (message.role === 'assistant') {
    const calls = message.parts.filter((p) => p.kind === 'tool-call');
    return [
      {
        role: 'assistant',
        content: text,
        ...(calls.length === 0
          ? {}
          : {
              tool_calls: calls.map((c) => ({
                id: c.id,
                type: 'function' as const,
                function: { name: c.name, arguments: JSON.stringify(c.input) },
              })),
            }),
      },
    ];
  }
  const results = message.parts
    .filter((p) => p.kind === 'tool-result')
    // the protocol has no field for a failed call
    .map((p) => ({ role: 'tool' as const, tool_call_id: p.id, content: p.isError ? `Error: ${p.output}` : p.output }));
  return text === '' && results.length > 0 ? results : [...results, { role: 'user', content: text }];
}
