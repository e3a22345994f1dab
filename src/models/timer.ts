/** What a timer can hold, in milliseconds: the deadlines of clients are set to it, ours come first. */
export const longestTimerMs = 2_147_483_647;
