import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MountedSkill } from '../ports/rollouts.ts';
import type { FolderTask } from '../ports/task.ts';
import { dockerAnswers, type HarborBench, makeHarborBench } from '../rollout/harbor/bench-fixture.ts';
import { harborEnvironment } from '../rollout/harbor/harbor-env.ts';
import { jobConfig, overlayText } from '../rollout/harbor/job-config.ts';
import { jobsOf } from '../rollout/harbor/jobs.ts';
import { fixtures } from '../rollout/harbor/options-fixture.ts';
import { laySkill } from '../rollout/harbor/skills.ts';
import { all, never, request, scoreOf } from '../rollout/self-check-tools.ts';
import { type Figure, type Measured, median } from './figure.ts';
import { outputOf } from './scratch.ts';

const tasks = 8;
const workers = 8;
const runs = 3;

/**
 * Harbor's trials on Docker through this program, against the same trials by `harbor run`: with our overlay, which is what
 * this program adds; as Harbor starts them by itself; and as a job for each skill.
 */
export async function harborFigures(): Promise<readonly Measured[]> {
  if (!dockerAnswers()) return [{ name: 'harbor', unmeasured: 'Docker or Harbor does not answer' }];
  const bench = await makeHarborBench({
    environment: { type: 'docker' },
    agent: { importPath: 'skill_reading_agent:SkillReadingAgent' },
    concurrency: workers,
  });
  try {
    const ground = await groundOf(bench);
    await byHand(bench, ground, { name: 'warm-up', overlay: true, skills: ground.skills.slice(0, 1) });
    const ms = { through: [] as number[], byHand: [] as number[], single: [] as number[], stock: [] as number[] };
    for (let run = 0; run < runs; run++) {
      ms.through.push(await throughMs(bench, ground));
      ms.byHand.push(await byHand(bench, ground, { name: `hand-${run}`, overlay: true, skills: ground.skills }));
      let single = 0;
      for (const [at, skill] of ground.skills.entries())
        single += await byHand(bench, ground, { name: `single-${run}-${at}`, overlay: true, skills: [skill] });
      ms.single.push(single);
      ms.stock.push(await byHand(bench, ground, { name: `stock-${run}`, overlay: false, skills: ground.skills }));
    }
    const throughUs = median(ms.through);
    const against = (name: string, other: string, list: readonly number[], atMost: number): Figure => ({
      name,
      what: `${ground.skills.length} skills × ${tasks} tasks on Docker, ${workers} trials at a time, against ${other}`,
      value: throughUs / median(list),
      unit: '×',
      target: { atMost },
      n: runs,
      measured: { throughUsMs: throughUs, otherMs: median(list) },
      note: '',
    });
    return [
      against('harbor', 'the same job by hand', ms.byHand, 1.03),
      against('harbor-stock', 'the same job by hand without our overlay', ms.stock, 0.6),
      against('harbor-jobs', 'a job by hand for each skill', ms.single, 1),
    ];
  } finally {
    await bench.close();
  }
}

type Ground = { readonly tasks: readonly FolderTask[]; readonly skills: readonly MountedSkill[] };

async function groundOf(bench: HarborBench): Promise<Ground> {
  const test = 'if [ "$(cat out)" = ok ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt';
  return {
    tasks: await Promise.all(Array.from({ length: tasks }, () => bench.task({ instruction: 'write ok', test }))),
    skills: await Promise.all(
      ['ok', 'no'].map((word) =>
        bench.skill(`---\nname: s\ndescription: d\n---\n\`\`\`sh\necho ${word} > out\n\`\`\`\n`, {}),
      ),
    ),
  };
}

const requestsOf = ({ tasks, skills }: Ground) =>
  tasks.flatMap((task) => skills.map((skill) => ({ ...request(`${task.id} ${skill.hash}`, task, skill), task })));

async function throughMs({ backend }: HarborBench, ground: Ground): Promise<number> {
  const startedAt = performance.now();
  const reports = await all(backend.performRollouts(requestsOf(ground), { signal: never() }));
  const ms = performance.now() - startedAt;
  const passed = reports.filter((report) => scoreOf(report) === 1).length;
  if (passed !== ground.tasks.length) throw new Error(`${passed} passed: ${JSON.stringify(reports)}`);
  return ms;
}

/** Milliseconds of `harbor run` with the config that this program would write. Throws unless every trial has a result. */
async function byHand(
  { options, folder }: HarborBench,
  ground: Ground,
  o: { readonly name: string; readonly overlay: boolean; readonly skills: readonly MountedSkill[] },
): Promise<number> {
  const place = join(folder, 'by-hand');
  mkdirSync(place, { recursive: true });
  const laid = new Map<string, string>();
  for (const skill of o.skills) laid.set(skill.hash, (await laySkill(skill, join(place, 'skills'))).dir);
  const [job] = jobsOf(requestsOf({ ...ground, skills: o.skills }), options.sessionId);
  if (job === undefined) throw new Error('there is nothing to do');
  const overlay = o.overlay ? join(place, 'overlay.yaml') : null;
  if (overlay !== null) writeFileSync(overlay, overlayText(options.sessionId, o.name));
  const skillDir = (entry: { readonly skill: MountedSkill | null }) => laid.get(entry.skill?.hash ?? '') ?? null;
  const config = jobConfig(job, options, { name: o.name, jobsDir: place, concurrency: workers, overlay, skillDir });
  const file = join(place, `${o.name}.json`);
  writeFileSync(file, JSON.stringify(config));
  const env = { ...harborEnvironment(options), PYTHONPATH: fixtures };
  const startedAt = performance.now();
  await outputOf([Bun.which(options.program) ?? options.program, 'run', '-c', file, '-y'], { env });
  const ms = performance.now() - startedAt;
  const trials = readdirSync(join(place, o.name)).filter((name) => name.includes('__'));
  for (const trial of trials) readFileSync(join(place, o.name, trial, 'result.json'));
  if (trials.length !== job.requests.size) throw new Error(`${trials.length} of ${job.requests.size} trials`);
  return ms;
}
