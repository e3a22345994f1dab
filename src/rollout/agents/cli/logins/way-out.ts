/** Variables that say how programs of this machine reach the internet, as programs look for them. */
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
/** Variables that name files or folders of certificates which programs trust beside their own. */
const trusts = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'CODEX_CA_CERTIFICATE'];

/** How an agent that talks to its vendor by itself gets out of this machine's network. */
export type WayOut = {
  readonly env: Readonly<Record<string, string>>;
  /** Certificates that its processes have to see. */
  readonly show: readonly string[];
};

/** The proxies and certificates of this machine's environment, which a rollout is given for no other purpose. */
export function wayOut(variables: Readonly<Record<string, string | undefined>>): WayOut {
  const set = (names: readonly string[]) =>
    names.flatMap((name) => {
      const value = variables[name];
      return value === undefined || value === '' ? [] : [[name, value] as const];
    });
  const named = set(trusts);
  return {
    env: Object.fromEntries([...set(proxies), ...named]),
    show: [...new Set(named.map(([, path]) => path).filter((path) => path.startsWith('/')))],
  };
}
