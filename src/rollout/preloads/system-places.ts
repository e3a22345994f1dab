/** Folders of the system that every rollout sees anyway. */
const system = /^\/(?:usr|bin|sbin|lib|lib64)(?:\/|$)/;

/** Is it somewhere that has to be shown to be seen? */
export function outsideOfSystem(path: string): boolean {
  return path !== '/' && !system.test(path);
}
