import { z } from 'zod';

/** The backends of this program itself; every other name is one of Harbor's environments. */
export const ownBackends = ['local', 'chat'] as const;

/** `docker` and its like are Harbor's names; `module:Class` is a class of the user's own that Harbor loads. */
export const backendConfig = z
  .string()
  .regex(
    /^([a-z][a-z0-9-]{0,39}|[A-Za-z_][\w.]*:[A-Za-z_]\w*)$/,
    'is neither local, chat, the name of an environment of Harbor such as docker, nor module:Class',
  );

/** What performs the rollouts of a backend. */
export type BackendKind = (typeof ownBackends)[number] | 'harbor';

export function backendKind(backend: string): BackendKind {
  return backend === 'local' || backend === 'chat' ? backend : 'harbor';
}
