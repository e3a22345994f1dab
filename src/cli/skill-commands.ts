import { hostEnvironment } from '../config/environment.ts';
import type { Preflight } from '../ports/preflight.ts';
import type { Preloading } from '../rollout/preloads/preloading.ts';
import type { Session } from '../session/session.ts';
import { readSkill } from '../skill/document.ts';
import { namedCommands } from '../skill/named-commands.ts';
import { isOnPath } from '../taskpack/commands.ts';

/** Most commands that the warning names. */
const MOST_NAMED = 8;

/** Commands that the skill tells an agent to run and that nothing here has: where the host is the image, it can't run them. */
export function skillCommands(
  session: Pick<Session, 'config' | 'pack'> & { readonly skill: Pick<Session['skill'], 'text'> },
  preloads: Pick<Preloading, 'isOpen' | 'path'> | null = null,
): Preflight {
  return {
    async preflight() {
      if (session.config.backend !== 'local' || preloads?.isOpen) return []; // what is installed may bring them
      const host = hostEnvironment().PATH ?? '';
      const paths = [
        host,
        ...(preloads?.path ?? []),
        ...session.pack.tasks.flatMap((task) => (task.kind === 'folder' ? (task.env.environment.PATH ?? []) : [])),
      ];
      const missing = namedCommands(readSkill(session.skill.text)).filter(
        ({ name }) => !paths.some((path) => isOnPath(name, path)),
      );
      if (missing.length === 0) return [];
      const shown = missing.slice(0, MOST_NAMED).map(({ name, line }) => `${name} (line ${line})`);
      const more = missing.length > shown.length ? ` and ${missing.length - shown.length} more` : '';
      return [
        {
          level: 'warning',
          what: `the skill names ${missing.length === 1 ? 'a command that is' : 'commands that are'} not on this machine, which is what tasks without a container use: ${shown.join(', ')}${more}`,
          where: 'backend local',
          fix: 'install what is needed; otherwise tasks that need it fail whatever the skill says',
        },
      ];
    },
  };
}
