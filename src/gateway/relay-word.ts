/** The argument by which this program is a relay inside a sandbox and nothing else. */
export const relayWord = '__relay';
