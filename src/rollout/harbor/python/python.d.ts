/** Python files are embedded as text. */
declare module '*.py' {
  const text: string;
  export default text;
}
