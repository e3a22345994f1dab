import type { Protocol } from '../../ports/gateway.ts';
import type { ScriptedAnswer } from './scripted-script-fixture.ts';
import type { Fields, ScriptedTurn } from './scripted-turn-fixture.ts';

// An answer of the scripted model as it goes over the wire, as a stream and in one piece.

export type ScriptedUsage = { readonly input: number; readonly output: number };
export type Wire = { readonly whole: Fields; readonly events: readonly string[] };

let calls = 0;

/** `id` names the answer; it has to differ from answer to answer. */
export function wireOf(protocol: Protocol, turn: ScriptedTurn, answer: ScriptedAnswer, usage: ScriptedUsage): Wire {
  const id = `scripted-${++calls}`;
  switch (protocol) {
    case 'messages':
      return messages(id, turn, answer, usage);
    case 'chat':
      return chat(id, turn, answer, usage);
    case 'responses':
      return responses(id, turn, answer, usage);
    case 'gemini':
      return gemini(turn, answer, usage);
    default:
      return protocol satisfies never;
  }
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: Fields) => `event: ${value.type}\n${data(value)}`;

function messages(id: string, { model }: ScriptedTurn, { text, call }: ScriptedAnswer, spent: ScriptedUsage): Wire {
  const usage = {
    input_tokens: spent.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: spent.output,
  };
  const content = [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...(call === undefined ? [] : [{ type: 'tool_use', id: `toolu_${id}`, name: call.tool.name, input: call.input }]),
  ];
  const stop = { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null };
  const whole = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content, ...stop, usage };
  const begun = { ...whole, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const blocks = content.flatMap((block, index) => {
    const isText = block.type === 'text';
    const start = isText ? { type: 'text', text: '' } : { ...block, input: {} };
    const delta = isText
      ? { type: 'text_delta', text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call?.input) };
    return [
      { type: 'content_block_start', index, content_block: start },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ];
  });
  const events = [
    { type: 'message_start', message: begun },
    ...blocks,
    { type: 'message_delta', delta: stop, usage },
    { type: 'message_stop' },
  ];
  return { whole, events: events.map(named) };
}

function chat(id: string, { model }: ScriptedTurn, { text, call }: ScriptedAnswer, spent: ScriptedUsage): Wire {
  const usage = {
    prompt_tokens: spent.input,
    completion_tokens: spent.output,
    total_tokens: spent.input + spent.output,
  };
  const tool_calls = (call === undefined ? [] : [call]).map(({ tool, input }) => ({
    id: `call_${id}`,
    type: 'function',
    function: { name: tool.name, arguments: JSON.stringify(input) },
  }));
  const finish_reason = call === undefined ? 'stop' : 'tool_calls';
  const message = { role: 'assistant', content: text === '' ? null : text };
  const chunk = (delta: Fields, finish: string | null, more: Fields = {}) =>
    data({
      id,
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    });
  return {
    whole: {
      id,
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { ...message, ...(call === undefined ? {} : { tool_calls }) }, finish_reason }],
      usage,
    },
    events: [
      chunk(message, null),
      ...(call === undefined ? [] : [chunk({ tool_calls: tool_calls.map((one, index) => ({ index, ...one })) }, null)]),
      chunk({}, finish_reason),
      chunk({}, null, { choices: [], usage }),
      'data: [DONE]\n\n',
    ],
  };
}

function responses(id: string, { model }: ScriptedTurn, { text, call }: ScriptedAnswer, spent: ScriptedUsage): Wire {
  const counts = { input_tokens: spent.input, output_tokens: spent.output, total_tokens: spent.input + spent.output };
  const usage = {
    ...counts,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const part = { type: 'output_text', text, annotations: [] };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content: [part] };
  const output: Fields[] = [...(text === '' ? [] : [message]), ...(call === undefined ? [] : [callItem(id, call)])];
  const response = (status: string, items: readonly Fields[], used: unknown) => ({
    id: `resp_${id}`,
    object: 'response',
    created_at: 1,
    status,
    model,
    output: items,
    usage: used,
    error: null,
    incomplete_details: null,
  });
  const begun = { response: response('in_progress', [], null) };
  const items = output.flatMap((item, output_index) => {
    const at = { output_index, item_id: item.id, content_index: 0 };
    const inner =
      item.type === 'message'
        ? [
            { type: 'response.output_text.delta', ...at, delta: text },
            { type: 'response.output_text.done', ...at, text },
          ]
        : [{ type: 'response.function_call_arguments.done', ...at, arguments: item.arguments }];
    const open = item.type === 'message' ? { ...item, content: [], status: 'in_progress' } : item;
    return [
      { type: 'response.output_item.added', output_index, item: open },
      ...inner,
      { type: 'response.output_item.done', output_index, item },
    ];
  });
  const whole = response('completed', output, usage);
  const events: Fields[] = [
    { type: 'response.created', ...begun },
    ...items,
    { type: 'response.completed', response: whole },
  ];
  return { whole, events: events.map((event, sequence_number) => named({ ...event, sequence_number })) };
}

function callItem(id: string, { tool, input }: NonNullable<ScriptedAnswer['call']>): Fields {
  const common = { call_id: `call_${id}`, name: tool.name, status: 'completed' };
  if (tool.kind === 'custom') return { id: `ctc_${id}`, type: 'custom_tool_call', ...common, input: input.raw };
  const group = tool.namespace === null ? {} : { namespace: tool.namespace };
  return { id: `fc_${id}`, type: 'function_call', ...common, ...group, arguments: JSON.stringify(input) };
}

function gemini({ model }: ScriptedTurn, { text, call }: ScriptedAnswer, spent: ScriptedUsage): Wire {
  const parts = [
    ...(text === '' ? [] : [{ text }]),
    ...(call === undefined ? [] : [{ functionCall: { name: call.tool.name, args: call.input } }]),
  ];
  const whole = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: spent.input,
      candidatesTokenCount: spent.output,
      totalTokenCount: spent.input + spent.output,
    },
    modelVersion: model,
  };
  return { whole, events: [data(whole)] };
}
