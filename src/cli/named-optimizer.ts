import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { modelName } from '../config/model.ts';
import { nearest } from '../config/nearest.ts';
import type { Config } from '../config/schema.ts';
import { AGENT_OPTIMIZER } from '../events/optimizer-words.ts';
import { createRehearsalOptimizer, parseRehearsal } from '../optimizer/rehearsal.ts';
import { fail } from '../ports/failure.ts';
import type { Proposals } from '../ports/proposals.ts';
import type { Session } from '../session/session.ts';
import { exampleHas, exampleName, exampleText } from './bundled.ts';

const REHEARSAL_OPTIMIZER = 'rehearsal';

/** A model, by its `provider/`; the agent itself, or the optimizer that this program brings. */
export function namedOptimizer(config: Config['optimizer']): 'model' | 'agent' | 'rehearsal' {
  const name = modelName(config);
  if (name === REHEARSAL_OPTIMIZER) return 'rehearsal';
  if (name === AGENT_OPTIMIZER) return 'agent';
  const close = nearest(name, [REHEARSAL_OPTIMIZER, AGENT_OPTIMIZER]);
  if (!name.includes('/') && close !== null)
    throw fail('config', `there is no optimizer ${name}`, 'optimizer', `did you mean ${close}?`);
  return 'model';
}

/** The rehearsal's optimizer, with the list of edits that lies beside the config or comes with the example. */
export function rehearsalOf(session: Pick<Session, 'config'>, base: string): Proposals {
  const { pack } = session.config;
  const example = exampleName(pack);
  if (example !== null && exampleHas(example, 'rehearsal.json'))
    return createRehearsalOptimizer({
      edits: parseRehearsal(exampleText(example, 'rehearsal.json'), `example:${example}/rehearsal.json`),
    });
  const path = resolve(base, 'rehearsal.json');
  if (!existsSync(path))
    throw fail(
      'config',
      'the rehearsal optimizer has no list of edits',
      path,
      'write a rehearsal.json beside the config (as example:hello-harbor has it), or name a model as "optimizer"',
    );
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw fail('config', 'the list of rehearsal edits can’t be read', path, 'make it a file that you may read', {
      cause,
    });
  }
  return createRehearsalOptimizer({ edits: parseRehearsal(text, path) });
}
