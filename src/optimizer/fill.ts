/** A prompt with `{{name}}` filled in. What is filled in is never looked at again. */
export function fill(prompt: string, values: Readonly<Record<string, string>>): string {
  return prompt.trim().replace(/\{\{(\w+)\}\}/g, (mark, name: string) => values[name] ?? mark);
}
