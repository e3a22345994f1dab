/**
 * Why an id can't stand as the name of a task; null when it can. Ids become file names, arguments and words on the
 * screen: nothing hidden, nothing that reads as an option, no character that steers a terminal.
 */
export function idProblem(id: string): string | null {
  if (id === '') return 'a task without a name';
  if (id.startsWith('.')) return 'the name of a task can not start with "."';
  if (id.startsWith('-')) return 'the name of a task can not start with "-"';
  if (/[/\\]/.test(id)) return 'the name of a task can not contain "/" or "\\"';
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(id)) return 'the name of a task can not contain control characters';
  if (id.includes('\uFFFD')) return 'the name of a task must be UTF-8';
  if (id !== id.trim()) return 'the name of a task can not begin or end with a blank';
  return null;
}
