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

/** Harbor 0.26's environments, as far as they are known here; a newer one's are listed by Harbor and checked by it. */
const environments: Readonly<Record<string, EnvironmentNeeds>> = {
  docker: needs(null),
  podman: needs(null),
  kata: needs(null),
  singularity: needs(null),
  'apple-container': needs(null),
  sbx: needs('sbx'),
  daytona: needs('daytona', [['DAYTONA_API_KEY'], ['DAYTONA_JWT_TOKEN', 'DAYTONA_ORGANIZATION_ID']]),
  e2b: needs('e2b', [['E2B_API_KEY']]),
  modal: needs('modal', [['MODAL_TOKEN_ID', 'MODAL_TOKEN_SECRET']], '`modal token new`'),
  runloop: needs('runloop', [['RUNLOOP_API_KEY']]),
  novita: needs('novita', [['NOVITA_API_KEY']]),
  islo: needs('islo', [['ISLO_API_KEY']]),
  tensorlake: needs('tensorlake', [['TENSORLAKE_API_KEY']]),
  cwsandbox: needs('cwsandbox', [['CWSANDBOX_API_KEY']]),
  langsmith: needs('langsmith', [['LANGSMITH_API_KEY'], ['LANGCHAIN_API_KEY']], 'a profile of LangSmith'),
  blaxel: needs('blaxel', [['BL_WORKSPACE', 'BL_API_KEY']], '`bl login`'),
  beam: needs('beam', [['BEAM_TOKEN']], '`beam login`'),
  vercel: needs('vercel', [['VERCEL_TOKEN']], '`vercel link`'),
  hyperbrowser: needs('hyperbrowser', [['HYPERBROWSER_API_KEY']]),
  'hf-sandbox': needs('hf-sandbox', [['HF_TOKEN']], '`hf auth login`'),
  'use-computer': needs('use-computer', [['USE_COMPUTER_API_KEY']]),
  'cua-cloud': needs('cua', [['CUA_CLIENT_ID', 'CUA_CLIENT_SECRET']]),
  opensandbox: needs('opensandbox', [['OPENSANDBOX_DOMAIN']]),
  skypilot: needs('skypilot', [['SKYPILOT_API_SERVER_ENDPOINT']]),
  ec2: needs('ec2', [['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']], 'a profile of AWS'),
  gke: needs('gke', [], '`gcloud auth login`'),
  ack: needs(null, [], 'a kubeconfig'),
  openshift: needs(null, [], '`oc login`'),
};

/** What is known of an environment; null = Harbor alone knows it. */
export function environmentNeeds(name: string): EnvironmentNeeds | null {
  return Object.hasOwn(environments, name) ? (environments[name] ?? null) : null;
}

/** Further variables that SDKs read; they decide where and as whom, and are given where they are set. */
const besides: Readonly<Record<string, readonly string[]>> = {
  daytona: ['DAYTONA_API_URL', 'DAYTONA_TARGET', 'DAYTONA_ORGANIZATION_ID'],
  modal: ['MODAL_PROFILE', 'MODAL_ENVIRONMENT'],
  opensandbox: ['OPENSANDBOX_API_KEY'],
  ec2: ['AWS_PROFILE', 'AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_SESSION_TOKEN'],
  gke: ['GOOGLE_APPLICATION_CREDENTIALS', 'KUBECONFIG'],
  ack: ['KUBECONFIG'],
  openshift: ['KUBECONFIG'],
};

/** All variables of an environment that Harbor may read. */
export function backendKeys(name: string): readonly string[] {
  return [...(environmentNeeds(name)?.keys.flat() ?? []), ...(besides[name] ?? [])];
}
