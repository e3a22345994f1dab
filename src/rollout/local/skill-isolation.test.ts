import { describe, expect, test } from 'bun:test';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { createSelfCheckAgent } from '../self-check-agent.ts';
import { makeLocalBench } from './bench-fixture.ts';
import { resultOf, withBench } from './bench-runs-fixture.ts';
import type { LocalOptions } from './options.ts';
import { describeWalled, unwalled, walled } from './sandbox-fixture.ts';

const pass = 'echo 1 > "$LOGS_DIR/verifier/reward.txt"';

/** An agent that looks for skills in two places. */
const looking: Agent = {
  ...createSelfCheckAgent(),
  skillMounts: [
    { base: 'workspace', path: '.agents/skills' },
    { base: 'home', path: '.claude/skills' },
  ],
};
const listed = 'for d in .agents/skills "$HOME/.claude/skills"; do ls "$d"; cat "$d"/*/SKILL.md; done';

const bodies = (options: Partial<LocalOptions>) => {
  const within = (body: Parameters<typeof withBench>[1], more: Partial<LocalOptions> = {}) =>
    withBench({ ...options, agent: looking, ...more }, body);

  test('an installed skill of the same name does not stand in its way', () =>
    within(async (outer) => {
      const home = join(outer.folder, 'home');
      for (const place of ['.claude/skills/s', '.agents/skills/s', '.claude/skills/other']) {
        mkdirSync(join(home, place), { recursive: true });
        writeFileSync(join(home, place, 'SKILL.md'), 'INSTALLED\n');
      }
      writeFileSync(join(home, 'CLAUDE.md'), 'FOREIGN\n');
      writeFileSync(join(home, '.gitconfig'), '[user]\nname = FOREIGN\n');
      const hostEnv = { PATH: process.env.PATH ?? '', HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude') };
      await within(
        async (bench) => {
          const instruction = `${listed}; ls -A "$HOME"; git config --list 2>/dev/null | grep FOREIGN; env | grep CLAUDE`;
          const task = await bench.task({ instruction, test: pass });
          const { trajectory } = await resultOf(bench, task, await bench.skill('CANDIDATE\n', {}));
          expect(trajectory?.finalText).toBe('s\nCANDIDATE\ns\nCANDIDATE\n.claude\n');
        },
        { hostEnv },
      );
    }));

  test('nothing of the user’s instructions is found from the workspace upwards, and it is no part of a repository of theirs', () =>
    within(async (bench) => {
      const above =
        'd=$PWD; while :; do ls -d "$d"/CLAUDE.md "$d"/AGENTS.md "$d"/GEMINI.md "$d"/.claude "$d"/opencode.json 2>/dev/null; [ -d "$d/.git" ] && break; [ "$d" = / ] && break; d=$(dirname "$d"); done; echo end';
      writeFileSync(join(bench.folder, 'AGENTS.md'), 'FOREIGN');
      const { trajectory } = await resultOf(bench, await bench.task({ instruction: above, test: pass }));
      expect(trajectory?.finalText).toBe('end\n');
    }));

  test('one that the task brings makes room for it, through a link of the task’s, too; the verifier finds neither', () =>
    within(
      async (bench) => {
        const files = {
          'environment/config/skills/s/SKILL.md': 'the task\n',
          'environment/config/skills/t/SKILL.md': 't\n',
        };
        const task = await bench.task({ instruction: listed, test: `find . | LC_ALL=C sort; ls -A ~; ${pass}`, files });
        symlinkSync('config', join(task.dir, 'environment', '.agents'));
        const { trajectory } = await resultOf(bench, task, await bench.skill('CANDIDATE\n', {}));
        expect(trajectory?.finalText).toBe('s\nt\nCANDIDATE\nt\ns\nCANDIDATE\n');
        expect(trajectory?.verifier?.output).toBe(
          '.\n./.agents\n./config\n./config/skills\n./config/skills/t\n./config/skills/t/SKILL.md\n',
        );
      },
      { prepareFiles: async () => [{ from: '.', to: '.', mode: null }] },
    ));

  test('what the agent makes where the skill stood is its own work', () =>
    within(async (bench) => {
      const instruction = 'mkdir .agents/skills/mine; echo x > .agents/skills/mine/SKILL.md; echo y > .agents/note';
      const task = await bench.task({ instruction, test: `find .agents -type f | LC_ALL=C sort; ${pass}` });
      const { trajectory } = await resultOf(bench, task, await bench.skill('CANDIDATE\n', {}));
      expect(trajectory?.verifier?.output).toBe('.agents/note\n.agents/skills/mine/SKILL.md\n');
    }));
};

describe('the candidate in plain folders', () => bodies(unwalled));
describeWalled('the candidate within walls', () => bodies(walled));

describeWalled('the candidate within walls', () => {
  test('can’t be changed, moved, removed or hidden, whatever is tried', () =>
    withBench({ ...walled, agent: looking }, async (bench) => {
      const at = '.agents/skills/s';
      const tries = [
        `chmod -R u+w ${at}`,
        `echo more >> ${at}/SKILL.md`,
        `echo > ${at}/new`,
        `rm -rf ${at}`,
        `mv ${at} elsewhere`,
        `rmdir ${at}`,
        `ln -sfn /tmp ${at}`,
        `sed -i s/CANDIDATE/OTHER/ ${at}/SKILL.md`,
        `mount --bind /tmp ${at}`,
        `truncate -s 0 "$HOME/.claude/skills/s/SKILL.md"`,
      ];
      const script = `${tries.map((one) => `{ ${one}; } 2>/dev/null && echo "did ${one}"`).join('\n')}\ncat ${at}/SKILL.md ${at}/scripts/run.sh; ls ${at}`;
      const task = await bench.task({ instruction: script, test: `find . "$HOME" -name SKILL.md; ${pass}` });
      const skill = await bench.skill('CANDIDATE\n', { 'scripts/run.sh': 'bundled\n' });
      const { outcome, trajectory } = await resultOf(bench, task, skill);
      expect(trajectory?.finalText).toBe('CANDIDATE\nbundled\nSKILL.md\nscripts\n');
      expect(outcome).toMatchObject({ status: 'scored', hard: 1 });
      expect(trajectory?.verifier?.output).toBe('');
    }));

  test('is found by its folder where the agent goes by that, and nowhere else', async () => {
    const bench = await makeLocalBench(walled);
    try {
      const look = 'echo "$SKILL_FILE"; find / -name SKILL.md -not -path "/proc/*" -not -path "/usr/*" 2>/dev/null';
      const { trajectory } = await resultOf(
        bench,
        await bench.task({ instruction: look, test: pass }),
        await bench.skill('x\n', {}),
      );
      expect(trajectory?.finalText).toBe('/skills/s/SKILL.md\n/skills/s/SKILL.md\n');
    } finally {
      await bench.close();
    }
  });

  test('is hidden at its source, though a folder around it is shown', () =>
    withBench(walled, async (outer) => {
      const project = join(outer.folder, 'project');
      mkdirSync(join(project, 'skills', 's'), { recursive: true });
      writeFileSync(join(project, 'skills', 's', 'SKILL.md'), 'SOURCE\n');
      writeFileSync(join(project, 'readme'), 'readme\n');
      await withBench(
        { ...walled, agent: looking, show: [project], hide: [join(project, 'skills', 's')] },
        async (bench) => {
          const instruction = `cat ${project}/readme; cat ${project}/skills/s/SKILL.md; ls ${project}/skills/s; ${listed}`;
          const { trajectory } = await resultOf(
            bench,
            await bench.task({ instruction, test: pass }),
            await bench.skill('CANDIDATE\n', {}),
          );
          expect(trajectory?.finalText).not.toContain('SOURCE');
          expect(trajectory?.finalText).toContain('readme\n');
          expect(trajectory?.finalText).toEndWith('s\nCANDIDATE\ns\nCANDIDATE\n');
        },
      );
    }));
});
