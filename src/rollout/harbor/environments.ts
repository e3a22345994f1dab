/** What Harbor needs for an environment of its own: what it is called with pip, and by which variables it is let in. */
export type EnvironmentNeeds = {
  /** The part of `harbor[…]` that brings its SDK; null = none. */
  readonly extra: string | null;
  /** Variables by which it is let in: one list of them has to be set whole. Empty = none, or a login of its own. */
  readonly keys: readonly (readonly string[])[];
  /** Another way in, for people; null = none. */
  readonly login: string | null;
};

const needs = (
  extra: string | null,
  keys: readonly (readonly string[])[] = [],
  login: string | null = null,
): EnvironmentNeeds => ({ extra, keys, login });

/** Harbor 0.26's environments; a newer one's are listed by Harbor and checked by it. */
const environments: Readonly<Record<string, EnvironmentNeeds>> = {
  docker: needs(null),
  podman: needs(null),
  kata: needs(null),
  singularity: needs(null),
  'apple-container': needs(null),
  smol: needs('smol'),
  sbx: needs('sbx', [['SBX_TOKEN'], ['SBX_TOKEN_FILE'], ['SBX_DOCKER_USERNAME', 'SBX_DOCKER_PAT']], 'a local sandbox'),
  daytona: needs('daytona', [['DAYTONA_API_KEY'], ['DAYTONA_JWT_TOKEN', 'DAYTONA_ORGANIZATION_ID']]),
  e2b: needs('e2b', [['E2B_API_KEY']]),
  modal: needs('modal', [['MODAL_TOKEN_ID', 'MODAL_TOKEN_SECRET']], '`modal token new`'),
  runloop: needs('runloop', [['RUNLOOP_API_KEY']]),
  novita: needs('novita', [['NOVITA_API_KEY']]),
  islo: needs('islo', [['ISLO_API_KEY']]),
  tensorlake: needs('tensorlake', [['TENSORLAKE_API_KEY']]),
  cwsandbox: needs('cwsandbox', [['CWSANDBOX_API_KEY'], ['WANDB_API_KEY']], '`wandb login`'),
  langsmith: needs('langsmith', [['LANGSMITH_API_KEY'], ['LANGCHAIN_API_KEY']], 'a profile of LangSmith'),
  blaxel: needs('blaxel', [['BL_WORKSPACE', 'BL_API_KEY']], '`bl login`'),
  beam: needs('beam', [['BEAM_TOKEN']], '`beam login`'),
  vercel: needs('vercel', [['VERCEL_TOKEN']], '`vercel link`'),
  hyperbrowser: needs('hyperbrowser', [['HYPERBROWSER_API_KEY']]),
  'hf-sandbox': needs('hf-sandbox', [['HF_TOKEN']], '`hf auth login`'),
  'use-computer': needs('use-computer', [['USE_COMPUTER_API_KEY']]),
  'cua-cloud': needs('cua', [['CUA_CLIENT_ID', 'CUA_CLIENT_SECRET']]),
  runta: needs('runta', [['RUNTA_TOKEN'], ['RUNTA_CONFIG']]),
  prime: needs('prime', [['PRIME_API_KEY']], '`prime login`'),
  mosaic: needs('mosaic', [['MOSAIC_API_TOKEN']], '`mos login`'),
  sail: needs('sail', [['SAIL_API_KEY']], 'a login of Sail'),
  kernel: needs('kernel', [['KERNEL_API_KEY']]),
  boxd: needs('boxd', [['BOXD_API_KEY'], ['BOXD_TOKEN']], 'a boxd machine'),
  superserve: needs('superserve', [['SUPERSERVE_API_KEY']]),
  // a local one needs no key, and its address may stand in the options
  opensandbox: needs('opensandbox'),
  skypilot: needs('skypilot', [['SKYPILOT_API_SERVER_ENDPOINT']], '`sky api login`'),
  ec2: needs('ec2', [['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']], 'a profile of AWS'),
  gke: needs('gke', [], '`gcloud container clusters get-credentials`'),
  'aca-sandbox': needs('aca-sandbox', [], '`az login`'),
  snowflake: needs('snowflake', [], 'a connection of Snowflake'),
  ack: needs(null, [], 'a kubeconfig'),
  openshift: needs(null, [], '`oc login`'),
};

/** What is known of an environment; null = Harbor alone knows it. */
export function environmentNeeds(name: string): EnvironmentNeeds | null {
  return Object.hasOwn(environments, name) ? (environments[name] ?? null) : null;
}

/** The environments that are known here, for a Harbor that does not list its own. */
export const knownEnvironments: readonly string[] = Object.keys(environments).sort();

type Variables = Readonly<Record<string, string | undefined>>;

/** Whether one list of its variables is set whole; false where it has none. */
export function isLetIn({ keys }: EnvironmentNeeds, variables: Variables): boolean {
  return keys.some((all) => all.every((name) => variables[name]));
}

/** Environments whose variables are set: what could be used from here, for people. */
export function environmentsLetIn(names: readonly string[], variables: Variables): readonly string[] {
  return names.filter((name) => {
    const known = environmentNeeds(name);
    return known !== null && isLetIn(known, variables);
  });
}

/** Further variables that SDKs read; they decide where and as whom, and are given where they are set. */
const besides: Readonly<Record<string, readonly string[]>> = {
  daytona: ['DAYTONA_API_URL', 'DAYTONA_TARGET', 'DAYTONA_ORGANIZATION_ID'],
  modal: ['MODAL_PROFILE', 'MODAL_ENVIRONMENT'],
  novita: ['NOVITA_DOMAIN', 'NOVITA_API_URL', 'NOVITA_BASE_URL'],
  islo: ['ISLO_API_URL', 'ISLO_COMPUTE_URL'],
  langsmith: ['LANGSMITH_PROFILE', 'LANGSMITH_ENDPOINT', 'LANGSMITH_SANDBOX_API_URL'],
  beam: ['CONFIG_PATH'],
  vercel: ['VERCEL_OIDC_TOKEN', 'VERCEL_TEAM_ID', 'VERCEL_PROJECT_ID'],
  hyperbrowser: ['HYPERBROWSER_BASE_URL'],
  'use-computer': ['USE_COMPUTER_HOST', 'USE_COMPUTER_VERSION', 'USE_COMPUTER_SNAPSHOT'],
  'cua-cloud': ['CUA_TOKEN_URL', 'CUA_BASE_URL', 'CUA_CLOUD_NAMESPACE'],
  mosaic: ['MOSAIC_REGISTRY_USERNAME', 'MOSAIC_REGISTRY_PASSWORD'],
  boxd: ['BOXD_BASE_URL', 'BOXD_API_URL', 'BOXD_REGION'],
  opensandbox: ['OPENSANDBOX_DOMAIN', 'OPENSANDBOX_API_KEY'],
  skypilot: ['HARBOR_SKYPILOT_REGISTRY'],
  ec2: ['AWS_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_SESSION_TOKEN'],
  gke: ['GOOGLE_APPLICATION_CREDENTIALS', 'KUBECONFIG', 'GCP_PROJECT', 'GOOGLE_CLOUD_PROJECT'],
  ack: ['KUBECONFIG'],
  openshift: ['KUBECONFIG'],
};

/** All variables of an environment that Harbor may read. */
export function backendKeys(name: string): readonly string[] {
  return [...(environmentNeeds(name)?.keys.flat() ?? []), ...(besides[name] ?? [])];
}
