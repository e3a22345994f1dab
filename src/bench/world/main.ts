import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { builtBinary } from '../../e2e/built-binary.ts';
import { cellName, cells } from './cells.ts';
import { runOnWorld, type Setting, type WorldRun } from './run.ts';
import { startWorldServer } from './server.ts';
import { readPeers, tableLines } from './table.ts';

/**
 * `npm run bench:world`: the built binary on the simulated world that SkillOpt and GEPA were run on, unmodified, at
 * equal numbers of rollouts; its table beside theirs. Runs are kept in a file of lines, so that an interrupted bench
 * goes on. Needs python3.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '24' },
    first: { type: 'string', default: '0' },
    infra: { type: 'string', default: '0' },
    rule: { type: 'string', default: 'balanced' },
    memory: { type: 'string', default: 'on,off' },
    jobs: { type: 'string', default: '2' },
    out: { type: 'string', default: join('dist', 'bench-world.jsonl') },
    json: { type: 'boolean', default: false },
  },
});
const first = Number(values.first);
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => first + i);
const infra = Number(values.infra);
const rule = values.rule as Setting['rule'];
const settings = values.memory.split(',').map((memory): Setting => {
  const plain = rule === 'balanced' ? '' : ` ${rule}`;
  return { who: `skillopt (ours)${plain}${memory === 'on' ? '' : ', no memory'}`, memory: memory === 'on', rule };
});

const done: WorldRun[] = existsSync(values.out)
  ? readFileSync(values.out, 'utf8')
      .trimEnd()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as WorldRun)
  : [];
const isDone = new Set(done.map((r) => [cellName(r), r.infra, r.seed, r.who].join('|')));
const wanted = seeds.flatMap((seed) => settings.flatMap((setting) => cells.map((cell) => ({ seed, setting, cell }))));
const left = wanted.filter((w) => !isDone.has([cellName(w.cell), infra, w.seed, w.setting.who].join('|')));

const binary = builtBinary();
const server = await startWorldServer();
try {
  let begun = 0;
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const run = await runOnWorld(binary, server, next.cell, next.setting, { infra, seed: next.seed, workers: 2 });
      done.push(run);
      appendFileSync(values.out, `${JSON.stringify(run)}\n`);
      if (++begun % 50 === 0) console.error(`${begun} runs done, ${left.length} to go`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
} finally {
  await server.stop();
}

const names = settings.map((s) => s.who);
const ours = done.filter((r) => r.infra === infra && seeds.includes(r.seed) && names.includes(r.who));
if (values.json) console.log(JSON.stringify(ours, null, 2));
else for (const line of tableLines(ours, readPeers(), infra)) console.log(line);
