import { type Action, actionOf, type KeyName } from '../../keys.ts';

/** What fills the screen below the header: all at a glance, or one pane. */
export type Pane = 'overview' | 'feed' | 'matrix' | 'draft' | 'evidence' | 'diff' | 'help';

const panes: readonly Pane[] = ['overview', 'feed', 'matrix', 'draft', 'evidence', 'diff'];

export const matrixTabs = ['selection', 'train', 'test'] as const;
export const diffTabs = ['draft against best', 'best against seed'] as const;

/** How the run is coming to its end, if it is. */
export type Ending = 'no' | 'after-step' | 'now' | 'over';

/** What the run screen remembers; all else is the read model. */
export type RunModel = {
  readonly pane: Pane;
  /** The selected step; null = the newest. */
  readonly step: number | null;
  /** The step was selected by opening its evidence: it is let go with it. */
  readonly pinned: boolean;
  /** First line that is shown; 'end' = follows the last one. */
  readonly scroll: number | 'end';
  /** Null = what is being measured now. */
  readonly matrixTab: number | null;
  readonly diffTab: number;
  readonly question: 'quit' | 'finish' | null;
  readonly ending: Ending;
  /** The search was told to end at its next point. */
  readonly finishing: boolean;
};

export const startModel: RunModel = {
  pane: 'overview',
  step: null,
  pinned: false,
  scroll: 'end',
  matrixTab: null,
  diffTab: 0,
  question: null,
  ending: 'no',
  finishing: false,
};

/** The only ways out of the screen. */
export type RunIntent =
  | { readonly kind: 'suspend' }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'stop-after-step'; readonly wanted: boolean }
  | { readonly kind: 'stop' }
  | { readonly kind: 'finish' }
  /** End the process at once. */
  | { readonly kind: 'end-now' }
  /** Leave the screen: the run is over. */
  | { readonly kind: 'close' };

export type RunMessage =
  | { readonly kind: 'key'; readonly key: KeyName }
  /** A signal from outside has asked for the orderly stop. */
  | { readonly kind: 'stopping' }
  /** The run is over; the screen stays while something is being read. */
  | { readonly kind: 'over' };

/** `opening`: there is no session yet that could hear a wish. */
export type Stage = 'opening' | 'search' | 'confirmation' | 'test';

/** What the reducer needs to know of the screen as it is shown. */
export type RunContext = {
  /** Steps that have a row of their own. */
  readonly steps: number;
  /** Lines of the pane that is shown, and how many of them fit. */
  readonly lines: number;
  readonly height: number;
  /** Where the run is: wishes that can't act there are not taken. */
  readonly stage: Stage;
  readonly paused: boolean;
  /** The tab of the matrix that is shown while nobody has chosen one. */
  readonly matrixTab: number;
  /** First lines of the hunks of the diff that is shown. */
  readonly hunks: readonly number[];
};

/** Before there is a session. */
export const opening: RunContext = {
  steps: 0,
  lines: 0,
  height: 0,
  stage: 'opening',
  paused: false,
  matrixTab: 0,
  hunks: [],
};

type Next = readonly [RunModel, readonly RunIntent[]];

/** The next state of the screen, and what is to be done for it. */
export function reduceRun(m: RunModel, message: RunMessage, at: RunContext): Next {
  switch (message.kind) {
    case 'stopping':
      return m.ending === 'over' ? [m, [{ kind: 'close' }]] : [{ ...m, ending: 'now', question: null }, []];
    case 'over':
      return m.pane === 'overview'
        ? [{ ...m, ending: 'over' }, [{ kind: 'close' }]]
        : [{ ...m, ending: 'over', question: null }, []];
    case 'key':
      return m.question === null ? onKey(m, message.key, at) : onAnswer(m, m.question, message.key, at);
    default:
      return message satisfies never;
  }
}

function onKey(m: RunModel, key: KeyName, at: RunContext): Next {
  const action = actionOf(key);
  if (action === undefined) return [m, []];
  if (m.ending === 'over' && (action === 'quit' || action === 'interrupt' || action === 'back' || key === 'enter'))
    return [m, [{ kind: 'close' }]];
  return act(m, action, at);
}

function act(m: RunModel, action: Action, at: RunContext): Next {
  switch (action) {
    case 'pause':
      if (m.ending === 'now' || m.ending === 'over' || at.stage === 'opening') return [m, []];
      return [m, [{ kind: at.paused ? 'resume' : 'pause' }]];
    case 'after-step': {
      if (m.ending === 'now' || m.ending === 'over' || at.stage === 'opening' || at.stage === 'test') return [m, []];
      const wanted = m.ending !== 'after-step';
      return [{ ...m, ending: wanted ? 'after-step' : 'no' }, [{ kind: 'stop-after-step', wanted }]];
    }
    case 'stop':
      return stop(m);
    case 'finish':
      return [m.ending !== 'no' || m.finishing || at.stage !== 'search' ? m : { ...m, question: 'finish' }, []];
    case 'quit':
      return [m.ending === 'now' ? m : { ...m, question: 'quit' }, []];
    case 'suspend':
      return [m, [{ kind: 'suspend' }]];
    case 'interrupt':
      return m.ending === 'now' ? [m, [{ kind: 'end-now' }]] : stop(m);
    case 'diff':
    case 'evidence':
    case 'matrix':
    case 'feed':
    case 'draft':
    case 'help':
      return [m.pane === action ? m : open(m, action, at), []];
    case 'back':
      return [m.pane === 'overview' ? { ...m, step: null } : open(m, 'overview', at), []];
    case 'next-pane':
      return [open(m, paneBeside(m.pane, 1), at), []];
    case 'previous-pane':
      return [open(m, paneBeside(m.pane, -1), at), []];
    case 'previous-tab':
      return [turn(m, -1, at), []];
    case 'next-tab':
      return [turn(m, 1, at), []];
    default:
      return [move(m, action, at), []];
  }
}

function stop(m: RunModel): Next {
  return m.ending === 'now' || m.ending === 'over'
    ? [m, []]
    : [{ ...m, ending: 'now', question: null }, [{ kind: 'stop' }]];
}

/** Around the panes, the overview among them; the page of keys stands apart. */
const paneBeside = (pane: Pane, by: 1 | -1): Pane =>
  panes[(Math.max(0, panes.indexOf(pane)) + by + panes.length) % panes.length] ?? 'overview';

/** The feed opens at its end, everything else at its top. The step that is read stays the one that it was. */
function open(m: RunModel, pane: Pane, at: RunContext): RunModel {
  const pinned = pane === 'evidence' && m.step === null ? { step: at.steps, pinned: true } : {};
  const unpinned = pane === 'overview' && m.pinned ? { step: null, pinned: false } : {};
  return { ...m, ...pinned, ...unpinned, pane, scroll: pane === 'feed' || pane === 'overview' ? 'end' : 0 };
}

function onAnswer(m: RunModel, question: 'quit' | 'finish', key: KeyName, at: RunContext): Next {
  const back = { ...m, question: null };
  if (key === 'ctrl+c') return stop(back);
  const yes = key === 'y' || key === 'enter';
  if (question === 'finish')
    return yes
      ? [{ ...back, finishing: true }, [{ kind: 'finish' }]]
      : key === 'n' || key === 'esc'
        ? [back, []]
        : [m, []];
  if (yes) return stop(back);
  if (key === 's') return act({ ...back, ending: 'no' }, 'after-step', at);
  return key === 'n' || key === 'esc' || key === 'q' ? [back, []] : [m, []];
}

/** Tabs of the matrix, of the diff; steps of the evidence. */
function turn(m: RunModel, by: 1 | -1, at: RunContext): RunModel {
  const around = (now: number, n: number) => (now + by + n) % n;
  switch (m.pane) {
    case 'matrix':
      return { ...m, matrixTab: around(m.matrixTab ?? at.matrixTab, matrixTabs.length), scroll: 0 };
    case 'diff': {
      const now = m.scroll === 'end' ? at.lines : m.scroll;
      const to = by > 0 ? at.hunks.find((h) => h > now) : at.hunks.findLast((h) => h < now);
      return to === undefined ? { ...m, diffTab: around(m.diffTab, diffTabs.length), scroll: 0 } : { ...m, scroll: to };
    }
    case 'evidence':
    case 'overview':
      return select(m, by, at);
    default:
      return m;
  }
}

/** Another step; beyond the last one the newest is followed. */
function select(m: RunModel, by: number, at: RunContext): RunModel {
  const now = m.step ?? at.steps;
  const step = Math.max(0, Math.min(now + by, at.steps));
  const follows = step === at.steps && m.pane !== 'evidence';
  return { ...m, step: follows ? null : step, scroll: m.pane === 'overview' ? m.scroll : 0 };
}

function move(m: RunModel, action: Action, at: RunContext): RunModel {
  const page = Math.max(1, at.height - 1);
  if (m.pane === 'overview')
    switch (action) {
      case 'up':
        return select(m, -1, at);
      case 'down':
        return select(m, 1, at);
      case 'page-up':
        return select(m, -page, at);
      case 'page-down':
        return select(m, page, at);
      case 'top':
        return { ...m, step: at.steps > 0 ? 0 : null };
      case 'bottom':
        return { ...m, step: null };
      default:
        return m;
    }
  const last = Math.max(0, at.lines - at.height);
  const now = m.scroll === 'end' ? last : Math.min(m.scroll, last);
  const to = (n: number): RunModel => {
    const clamped = Math.max(0, Math.min(n, last));
    return { ...m, scroll: m.pane === 'feed' && clamped === last ? 'end' : clamped };
  };
  switch (action) {
    case 'up':
      return to(now - 1);
    case 'down':
      return to(now + 1);
    case 'page-up':
      return to(now - page);
    case 'page-down':
      return to(now + page);
    case 'top':
      return to(0);
    case 'bottom':
      return to(last);
    default:
      return m;
  }
}
