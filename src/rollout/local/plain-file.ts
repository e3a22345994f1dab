import { constants } from 'node:fs';

/**
 * How a file is opened that was seen to be a plain one: should somebody have put a pipe or a link in its place since,
 * the reading fails at once instead of waiting for ever or going elsewhere.
 */
export const plainFile: number = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
