import type { Finding } from '../../ports/preflight.ts';
import { agentFindings, takesSkill } from './agent-preflight.ts';
import { dockerFindings, imagesHere, missingImageFindings, placeFindings } from './docker-preflight.ts';
import { dryRunFindings } from './dry-run.ts';
import { environmentFindings } from './environment-preflight.ts';
import { askInstalled, type Installed } from './installed.ts';
import { networkFindings } from './network-preflight.ts';
import { type HarborOptions, isDocker } from './options.ts';
import { layPython } from './python-files.ts';
import { withScratch } from './scratch.ts';
import { type TaskNeeds, taskNeeds } from './task-needs.ts';
import { variableFindings } from './variables.ts';
import { versionFindings } from './version.ts';

const isError = ({ level }: Finding) => level === 'error';

/**
 * What Harbor, its environment, its agent and the tasks lack, before anything is spent. What is independent is asked side
 * by side; Harbor's own dry run, the dearest question, comes last and only where all else is sound. Leaves nothing behind.
 */
export async function harborPreflight(o: HarborOptions): Promise<readonly Finding[]> {
  const needs = await Promise.all(o.tasks.map(taskNeeds));
  return withScratch(o.dir, async (folder) => {
    const asking = { ...o, dir: folder }; // this program's own classes are laid there for the questions
    await layPython(asking);
    const installed = askInstalled(asking);
    const [version, ofPlace] = await Promise.all([
      versionFindings(o),
      isDocker(o.environment) ? onDocker(o, needs, folder, installed) : [],
    ]);
    const told = await installed;
    const cheap = [
      ...version,
      // another program, or none, has no lists
      ...(version.some(isError) ? [] : [...environmentFindings(o, told), ...agentFindings(o, told)]),
      ...ofPlace,
      ...variableFindings(o, needs),
    ];
    if (cheap.some(isError)) return cheap;
    return [...cheap, ...(await dryRunFindings(asking, folder, takesSkill(o, told) !== false))];
  });
}

async function onDocker(
  o: HarborOptions,
  needs: readonly TaskNeeds[],
  folder: string,
  installed: Promise<Installed>,
): Promise<readonly Finding[]> {
  const { findings, engine } = await dockerFindings(o);
  if (engine === null) return findings;
  const network = installed.then(({ networkProbe }) => networkFindings(o, needs, networkProbe));
  const { here, missing } = await imagesHere(o, needs);
  const [place, walls] = await Promise.all([placeFindings(o, engine, folder, here), network]);
  return [...findings, ...place, ...missingImageFindings(missing), ...walls];
}
