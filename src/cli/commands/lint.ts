import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { LintOptions } from '../lint.ts';

export function lintCommand(program: Command, context: CommandContext): void {
  program
    .command('lint')
    .summary('look at a SKILL.md by the format’s rules and by what agents make of it; no model')
    .description(
      'Looks at skills without a model: the hard and soft rules of the SKILL.md format, what each agent’s parser makes of the frontmatter, size in tokens, references that lead nowhere, and the commands and tools that the skill names. Changes nothing. Exits with 3 when there is an error; an agent that does not see the skill is one.',
    )
    .argument('<paths...>', 'a SKILL.md or its folder; several are looked at one after the other')
    .option('--strict', 'warnings fail the exit code, too')
    .action(async (paths: readonly string[], options: LintOptions) => {
      const { lint } = await import('../lint.ts');
      await lint(paths, options, context);
    });
}
