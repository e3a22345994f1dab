import pkg from '../package.json' with { type: 'json' };

/** Version of this program, as in package.json. */
export const VERSION: string = pkg.version;
