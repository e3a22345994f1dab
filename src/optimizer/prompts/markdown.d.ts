/** A prompt: a Markdown file whose text is a part of the program. */
declare module '*.md' {
  const text: string;
  export default text;
}
