import type { Protocol } from '../ports/gateway.ts';
import { resource } from './routes.ts';

/** An error of this gateway in the API's own shape. Clients are told not to ask again. */
export function errorAnswer(protocol: Protocol, status: number, message: string): Response {
  return Response.json(errorBody(protocol, status, message), { status, headers: { 'x-should-retry': 'false' } });
}

function errorBody(protocol: Protocol, status: number, message: string): object {
  switch (protocol) {
    case 'messages':
      return { type: 'error', error: { type: types[status]?.messages ?? 'api_error', message } };
    case 'chat':
    case 'responses':
      return { error: { message, type: types[status]?.openai ?? 'server_error', param: null, code: null } };
    case 'gemini':
      return { error: { code: status, message, status: types[status]?.gemini ?? 'INTERNAL' } };
    default:
      return protocol satisfies never;
  }
}

type Names = { readonly messages: string; readonly openai: string; readonly gemini: string };
const invalid: Names = {
  messages: 'invalid_request_error',
  openai: 'invalid_request_error',
  gemini: 'INVALID_ARGUMENT',
};
const types: Readonly<Record<number, Names>> = {
  400: invalid,
  401: { messages: 'authentication_error', openai: 'invalid_request_error', gemini: 'UNAUTHENTICATED' },
  403: { messages: 'permission_error', openai: 'invalid_request_error', gemini: 'PERMISSION_DENIED' },
  404: { messages: 'not_found_error', openai: 'invalid_request_error', gemini: 'NOT_FOUND' },
  413: { ...invalid, messages: 'request_too_large' },
  415: invalid,
};

/** The models there are here: the one that every request asks for. */
export function modelsAnswer(protocol: Protocol, model: string, isList: boolean): Response {
  if (protocol === 'gemini') {
    const one = {
      name: resource(model),
      displayName: model,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    };
    return Response.json(isList ? { models: [one] } : one);
  }
  // the fields of both APIs stand side by side
  const one = {
    id: model,
    object: 'model',
    type: 'model',
    display_name: model,
    created: 0,
    created_at: '1970-01-01T00:00:00Z',
    owned_by: 'skillopt',
  };
  const list = { object: 'list', data: [one], has_more: false, first_id: model, last_id: model };
  return Response.json(isList ? list : one);
}
