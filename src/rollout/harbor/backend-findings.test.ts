import { describe, expect, test } from 'bun:test';
import { agentFindings, takesSkill } from './agent-preflight.ts';
import { environmentFindings } from './environment-preflight.ts';
import type { Installed } from './installed.ts';
import type { HarborOptions } from './options.ts';
import { optionsOf } from './preflight-fixture.ts';

const says = (more: Partial<Installed> = {}): Installed => ({
  environments: ['docker', 'e2b', 'modal', 'brand-new', 'islo'],
  agents: ['codex', 'aider', 'oracle', 'brand-new'],
  extra: null,
  refusal: null,
  takesSkill: null,
  skillAgents: [],
  networkProbe: null,
  ...more,
});
const texts = (findings: readonly { readonly what: string; readonly fix: string }[]) =>
  findings.map(({ what, fix }) => `${what} → ${fix}`);

describe('an environment', () => {
  test.each([
    ['docker', {}, {}, []],
    ['one that only Harbor knows', { environment: { type: 'brand-new' } }, {}, []],
    [
      'misspelt',
      { environment: { type: 'modla' } },
      {},
      ['Harbor has no environment modla → did you mean modal? Harbor has: docker, e2b, modal, brand-new, islo'],
    ],
    [
      'without its packages and its key',
      { environment: { type: 'e2b' } },
      { extra: { name: 'e2b', missing: ['e2b'] }, refusal: 'words' },
      [
        "Harbor’s environment e2b needs packages that are not installed: e2b → `uv tool install 'harbor[e2b]'`; where Harbor came by pip: `pip install 'harbor[e2b]'`",
        'Harbor is not let into e2b: nothing gives it E2B_API_KEY → set E2B_API_KEY',
      ],
    ],
    [
      'with its key',
      { environment: { type: 'e2b' }, hostEnv: { E2B_API_KEY: 'x' } },
      { extra: { name: 'e2b', missing: [] } },
      [],
    ],
    [
      'whose key Harbor does not look at',
      { environment: { type: 'islo' } },
      {},
      ['Harbor is not let into islo: nothing gives it ISLO_API_KEY → set ISLO_API_KEY'],
    ],
    ['with a login that Harbor finds', { environment: { type: 'modal' } }, {}, []],
    [
      'with neither key nor login',
      { environment: { type: 'modal' }, hostEnv: { MODAL_TOKEN_ID: 'x' } },
      { refusal: 'Modal requires it' },
      [
        'Harbor is not let into modal: Modal requires it → set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or let it in by `modal token new`',
      ],
    ],
    [
      'that Harbor refuses for another reason',
      { environment: { type: 'brand-new' } },
      { refusal: 'No KVM' },
      ['Harbor can’t use brand-new: No KVM → mend what it says'],
    ],
    [
      'a class',
      { environment: { importPath: 'a:B' } },
      { refusal: 'no' },
      ['Harbor can’t use this environment: no → mend what it says'],
    ],
  ] as const)('%s', (_name, o, installed, want) => {
    expect(
      texts(environmentFindings(optionsOf(o as Partial<HarborOptions>), says(installed as Partial<Installed>))),
    ).toEqual([...want]);
  });

  test('where Harbor lists none, those that are known here count', () => {
    expect(environmentFindings(optionsOf({}), says({ environments: [] }))).toEqual([]);
    expect(
      environmentFindings(optionsOf({ environment: { type: 'dokcer' } }), says({ environments: [] })),
    ).toHaveLength(1);
  });
});

describe('an agent', () => {
  test.each([
    ['that takes skills', { name: 'codex' }, {}, []],
    [
      'misspelt',
      { name: 'codx' },
      {},
      ['Harbor has no agent codx → did you mean codex? Harbor has: codex, aider, oracle, brand-new'],
    ],
    [
      'that takes none',
      { name: 'aider' },
      { takesSkill: false, skillAgents: ['codex', 'brand-new'] },
      [
        'Harbor’s agent aider takes no skill, so every trial with one would fail → choose one that does: codex, brand-new',
      ],
    ],
    [
      'that takes none, of a Harbor without a list of those',
      { name: 'aider' },
      { takesSkill: false },
      ['Harbor’s agent aider takes no skill, so every trial with one would fail → choose one that does: codex'],
    ],
    ['behind a protocol', { name: 'acp:some@1' }, {}, []],
    ['a class', { importPath: 'a:B' }, {}, []],
    [
      'a class that takes none',
      { importPath: 'a:B' },
      { takesSkill: false },
      [
        'Harbor’s agent a:B takes no skill, so every trial with one would fail → make its class say `capabilities = AgentCapabilities(skills=True)`, and read the folder that it is given',
      ],
    ],
  ] as const)('%s', (_name, agent, installed, want) => {
    expect(
      texts(
        agentFindings(optionsOf({ agent: agent as HarborOptions['agent'] }), says(installed as Partial<Installed>)),
      ),
    ).toEqual([...want]);
  });

  test('oracle is warned of, and is given no skill', () => {
    const o = optionsOf({ agent: { name: 'oracle' } });
    expect(agentFindings(o, says({ takesSkill: false })).map(({ level }) => level)).toEqual(['warning']);
    expect(takesSkill(o, says())).toBe(false);
    expect(takesSkill(optionsOf({}), says())).toBe(true);
    expect(takesSkill(optionsOf({ agent: { name: 'brand-new' } }), says())).toBeNull();
  });
});
