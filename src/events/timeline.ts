import type { EventOf } from './events.ts';
import type { Measured, Screened, SelectionTime, StepState, Timeline, TrainTime } from './run-state.ts';
import { flips } from './words.ts';

/** Measurements in the order of the log, and what follows from that order. A part of the fold. */
export class Times implements Timeline {
  readonly selection: SelectionTime[] = [];
  readonly train: TrainTime[] = [];
  readonly flips = new Map<string, string>();
  readonly accepted: number[] = [];
  best = -1;
  private sweeps = 0;
  /** The last round in which an edit was tried. */
  private round = 0;
  private inRound: Screened[] = [];

  /** `steps` = gates that were over by then. */
  evaluated(event: EventOf<'evaluation.finished'>, steps: number): void {
    if (event.split === 'open') return;
    const { why, skill, tasks } = event;
    const measured: Measured = { why, skill, tasks };
    if (event.split === 'train') {
      this.train.push({ kind: 'sweep', number: why === 'seed' ? 0 : ++this.sweeps, measured });
      return;
    }
    this.selection.push({ kind: 'measured', measured });
    if (steps === 0 || this.best < 0) this.best = this.selection.length - 1;
  }

  screened(event: EventOf<'screening.decided'>): void {
    const { round, edit, task, passed, kept } = event;
    if (round !== this.round) {
      this.round = round;
      this.inRound = [];
      this.train.push({ kind: 'round', round, screened: this.inRound });
    }
    this.inRound.push({ edit, task, passed, kept });
  }

  gated(step: StepState): void {
    this.selection.push({ kind: 'gate', step });
    const { won, lost } = flips(step);
    const both = new Set(won);
    for (const task of won) this.flips.set(task, `won in ${step.step}`);
    for (const task of lost)
      this.flips.set(task, both.has(task) ? `won and lost in ${step.step}` : `lost in ${step.step}`);
    if (step.gateAction !== 'accept') return;
    this.accepted.push(step.step);
    this.best = this.selection.length - 1;
  }
}
