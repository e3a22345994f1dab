/** A key as the reducers know it: a character, or the name of a key without one. */
export type KeyName = string;

type InkKey = {
  readonly upArrow: boolean;
  readonly downArrow: boolean;
  readonly leftArrow: boolean;
  readonly rightArrow: boolean;
  readonly pageUp: boolean;
  readonly pageDown: boolean;
  readonly home: boolean;
  readonly end: boolean;
  readonly return: boolean;
  readonly escape: boolean;
  readonly tab: boolean;
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly shift: boolean;
  readonly eventType?: 'press' | 'repeat' | 'release' | undefined;
};

const named: readonly (readonly [keyof InkKey, KeyName])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'esc'],
  ['tab', 'tab'],
];

/**
 * The keys of one input. A terminal may hand over several characters at once: a key that is held down (`jjj`), or a
 * pasted text. Of several only those that move are taken, so that no paste can stop a run.
 */
export function keyNames(input: string, key: InkKey): readonly KeyName[] {
  if (key.eventType === 'release') return [];
  if (key.ctrl) return input === '' ? [] : [`ctrl+${input}`];
  if (key.tab && key.shift) return ['shift+tab'];
  for (const [flag, name] of named) if (key[flag] === true) return [name];
  if (key.meta || input === '') return [];
  const characters = [...input];
  return characters.length === 1 ? characters : characters.filter((c) => 'jkgG'.includes(c));
}

/** What a key does on the run screen. */
export type Action =
  | 'pause'
  | 'after-step'
  | 'stop'
  | 'finish'
  | 'diff'
  | 'evidence'
  | 'matrix'
  | 'feed'
  | 'draft'
  | 'help'
  | 'back'
  | 'quit'
  | 'interrupt'
  | 'suspend'
  | 'up'
  | 'down'
  | 'page-up'
  | 'page-down'
  | 'top'
  | 'bottom'
  | 'previous-tab'
  | 'next-tab'
  | 'next-pane'
  | 'previous-pane';

export type Binding = {
  readonly keys: readonly KeyName[];
  readonly action: Action;
  /** For the help line; empty = not there. */
  readonly short: string;
  /** For the page of keys. */
  readonly help: string;
};

/** The keys of the run screen: the help line and the page of keys are made from this table. */
export const runKeys: readonly Binding[] = [
  {
    keys: ['p'],
    action: 'pause',
    short: 'pause',
    help: 'pause and resume: what runs comes to its end, nothing new starts',
  },
  {
    keys: ['d', '5'],
    action: 'diff',
    short: 'diff',
    help: 'the diff of the draft against the best skill, hunk by hunk',
  },
  {
    keys: ['e', '4', 'enter'],
    action: 'evidence',
    short: 'evidence',
    help: 'the evidence of the selected step, task by task',
  },
  { keys: ['m', '2'], action: 'matrix', short: 'matrix', help: 'tasks × steps: which tasks flipped, and when' },
  { keys: ['f', '1'], action: 'feed', short: 'feed', help: 'all that happened, in sentences' },
  { keys: ['w', '3'], action: 'draft', short: 'draft', help: 'the draft as it grows: its edits and what each fixed' },
  { keys: ['s'], action: 'after-step', short: 'stop after step', help: 'stop after this step; again takes it back' },
  { keys: ['x'], action: 'stop', short: '', help: 'stop now, in order: what finished is kept' },
  { keys: ['F'], action: 'finish', short: '', help: 'end the search here and confirm what there is' },
  { keys: ['?'], action: 'help', short: 'keys', help: 'this page' },
  { keys: ['q'], action: 'quit', short: 'quit', help: 'leave, with a question' },
  { keys: ['ctrl+c'], action: 'interrupt', short: '', help: 'once: stop in order; twice: at once' },
  { keys: ['ctrl+z'], action: 'suspend', short: '', help: 'put it to sleep; `fg` wakes it' },
  { keys: ['j', 'down'], action: 'down', short: '', help: 'down: the next step, or scroll' },
  { keys: ['k', 'up'], action: 'up', short: '', help: 'up: the step before, or scroll' },
  { keys: [' ', 'pagedown', 'ctrl+f'], action: 'page-down', short: '', help: 'a page down' },
  { keys: ['b', 'pageup', 'ctrl+b'], action: 'page-up', short: '', help: 'a page up' },
  { keys: ['g', 'home'], action: 'top', short: '', help: 'to the top' },
  { keys: ['G', 'end'], action: 'bottom', short: '', help: 'to the bottom; the feed follows from there on' },
  { keys: ['[', 'left'], action: 'previous-tab', short: '', help: 'in a pane: the tab, step or hunk before' },
  { keys: [']', 'right'], action: 'next-tab', short: '', help: 'in a pane: the next tab, step or hunk' },
  { keys: ['tab'], action: 'next-pane', short: '', help: 'the next pane' },
  { keys: ['shift+tab'], action: 'previous-pane', short: '', help: 'the pane before' },
  { keys: ['esc'], action: 'back', short: '', help: 'back from a pane; never ends a run' },
];

const byKey = new Map(runKeys.flatMap((b) => b.keys.map((key) => [key, b.action] as const)));

/** What a key does; undefined = nothing. */
export const actionOf = (key: KeyName): Action | undefined => byKey.get(key);

/** A key as the help shows it. */
export function shownKey(key: KeyName): string {
  const shown: Readonly<Record<string, string>> = {
    ' ': 'space',
    up: '↑',
    down: '↓',
    left: '←',
    right: '→',
    pageup: 'page up',
    pagedown: 'page down',
  };
  return shown[key] ?? key;
}
